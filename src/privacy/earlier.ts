import { type Finders, findersByWords, findersInOneWalk } from './engine.ts'
import { firstFinder } from './first/engine.ts'
import { firstSchemeOf } from './first/names.ts'
import { nearTriggers } from './near.ts'
import { findCardsBefore, findEmails } from './personal.ts'
import { commands } from './second/commands.ts'

/** The finders of tapes without a flag that says which. */
export const firstFinders: Finders = {
  version: 1,
  by: (_, inHeaders) => ({
    names: inHeaders,
    schemeOf: firstSchemeOf,
    emails: findEmails,
    cards: findCardsBefore,
    finder: ({ isOn, around }) => firstFinder(isOn, inHeaders, around),
  }),
}

/** The finders of tapes with the flag `redactor-2`. */
export const secondFinders = findersInOneWalk(2, (isOn) => nearTriggers(isOn, commands))

/** The finders of tapes with the flag `redactor-3`. */
export const thirdFinders = findersByWords(3)

/** The finders of tapes with the flag `redactor-4`. */
export const fourthFinders = findersByWords(4)

/** The finders of tapes with the flag `redactor-5`. */
export const fifthFinders = findersByWords(5)

/** The finders of tapes with the flag `redactor-6`. */
export const sixthFinders = findersByWords(6)

/** The finders of tapes with the flag `redactor-7`. */
export const seventhFinders = findersByWords(7)

/** The finders of tapes with the flag `redactor-8`. */
export const eighthFinders = findersByWords(8)

/** The finders of tapes with the flag `redactor-9`. */
export const ninthFinders = findersByWords(9)

/** The finders of tapes with the flag `redactor-10`. */
export const tenthFinders = findersByWords(10)

/** The finders of tapes with the flag `redactor-11`. */
export const eleventhFinders = findersByWords(11)

/** The finders of tapes with the flag `redactor-12`. */
export const twelfthFinders = findersByWords(12)

/** The finders of tapes with the flag `redactor-13`. */
export const thirteenthFinders = findersByWords(13)
