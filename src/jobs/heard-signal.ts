/** What came to this process while it waited for a program, which it then ended. */
export const heard: { signal?: 'SIGHUP' | 'SIGTERM' } = {}
