/** The module that a worker loads agents from, where it collects the cases itself. The plugin makes it. */
export const agentsModule = 'virtual:vitest-harvest/agents'
