/** The kind of a part of a value that tapes do not hold, as it is said where it was not compared. */
export const hiddenPart = 'hidden part'
/** The kind of a header that tapes have the name of and no value: it is sent no more, or was not sent before. */
export const unkeptHeader = 'unlisted header'
/** The kind of what an import does not state: which of its steps waited for which. */
export const orderOfSteps = 'order of steps'
