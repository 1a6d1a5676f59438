/**
 * Who speaks to whom. Magentic-One writes both into one name: `Orchestrator (-> WebSurfer)`, `Orchestrator (thought)`;
 * elsewhere all agents of a team hear what one says.
 */
export function addressed(speaker: string): { readonly from: string; readonly to: string } {
  const [, from, to] = /^(.{1,200}?) \((?:->|→) ?(.{1,200})\)$/.exec(speaker) ?? []
  return from === undefined || to === undefined ? { from: speaker, to: 'all' } : { from, to }
}
