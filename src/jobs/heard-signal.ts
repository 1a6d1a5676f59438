/** How a process ends that got a signal while it waited for a program, and passed it on to that. */
export const heard: { exitCode?: number } = {}
