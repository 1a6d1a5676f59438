/** The signal that this process got while it waited for a program, and passed on to it. */
export const heard: { signal?: 'SIGHUP' | 'SIGTERM' } = {}
