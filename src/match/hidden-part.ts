/** The kind of a part of a value that tapes do not hold, as it is said where it was not compared. */
export const hiddenPart = 'hidden part'
