/** Forks under way at once, where nothing else is said. */
export const usualParallel = 8
