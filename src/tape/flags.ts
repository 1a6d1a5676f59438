/**
 * Behaviour a replay depends on, by name. A tape carries the flags it was made with and replays by them for ever;
 * a flag this version does not know is refused, because guessing would replay the tape by other rules.
 *
 * - `gate-1`: deliveries happen in the recorded order of moments, one burst per quiet moment of the agent.
 * - `draws-by-package-1`: clock, random and id reads are served back per kind and calling package, in order.
 * - `headers-1`: requests have every header that says what is asked, for whom and under which condition, and their
 *   credentials without the keys: one that is missing was not sent.
 * - `redactor-14`, `redactor-13`, `redactor-12`, `redactor-11`, `redactor-10`, `redactor-9`, `redactor-8`, `redactor-7`, `redactor-6`, `redactor-5`, `redactor-4`, `redactor-3`,
 *   `redactor-2`: secrets were found as that version of the finders finds them; without any, as the first does.
 * - `branch-1`: the tape begins with the events of its parent.
 * - `contents-1`: values hold what instances of classes of the platform say of themselves: a `Response` its status.
 * - `fields-1`: sets, maps, dates, bytes and other values that are not lists or fields have their own fields beside them.
 * - `late-1`: what the agent did after it returned is named on the last line; without it, it is unknown whether it did
 *   anything.
 * - `hosts-1`: the address of a request names the host that its `Host` header says; without it, where it was sent. Where it
 *   was sent stands among its headers if that is another host, and so do the names of its trailers and each of the
 *   subprotocols that a WebSocket offers.
 * - `sockets-1`: the unix socket of a request stands among its headers, and where a connection leads that the code opens by
 *   itself. That the input of a child was ended is a step, and its user, group and program stand where it starts.
 * - `ends-1`: that the input of an MCP server was ended and that a child of any kind was sent a signal are steps; how an MCP
 *   server ended is there, and so is why a child could not be started, and its time limit.
 * - `tenants-1`: no variable of the machine named the organization or project of a request: the code did.
 * - `region-1`: nothing on the machine named a region of AWS: the code did.
 * - `contexts-1`: what a framework hands a tool beside its arguments is there with the state of a graph, the actions that a tool
 *   asks for, and regular expressions.
 * - `cuts-2`, `cuts-1`: a value of a call, a message, a mark or a state that was larger than the cap stands there with its two ends
 *   alone. Since the second, they are of its JSON with keys in order and without members that were `undefined`.
 * - `named-late-1`: values that were named when they stood on the tape already have placeholders with numbers of their own.
 * - `begun-1`: a step may stand on several lines, the first of them written when it began.
 */
export const currentFlags: readonly string[] = ['gate-1', 'draws-by-package-1']

/** Written by a recorder of ours; what other recorders leave out is unknown. A branch has it when its parent has. */
export const headersFlag = 'headers-1'

/** Written by all who redact now. A branch has it when its parent has: its requests are redacted as the parent's were. */
export const redactorFlag = 'redactor-14'

/** Of tapes that were recorded before. */
export const thirteenthRedactorFlag = 'redactor-13'
export const twelfthRedactorFlag = 'redactor-12'
export const eleventhRedactorFlag = 'redactor-11'
export const tenthRedactorFlag = 'redactor-10'
export const ninthRedactorFlag = 'redactor-9'
export const eighthRedactorFlag = 'redactor-8'
export const seventhRedactorFlag = 'redactor-7'
export const sixthRedactorFlag = 'redactor-6'
export const fifthRedactorFlag = 'redactor-5'
export const fourthRedactorFlag = 'redactor-4'
export const thirdRedactorFlag = 'redactor-3'
export const secondRedactorFlag = 'redactor-2'

/** A tape that begins with events of another: `parent` in its header says which. */
export const branchFlag = 'branch-1'

/** Written by the recorder: steps stand on the tape when they begin. Versions that know nothing of that refuse the tape. */
export const begunFlag = 'begun-1'

/** Written by the recorder. A branch has it when its parent has. */
export const contentsFlag = 'contents-1'

/** Written where a tape was written once more for such values. A branch has it when its parent has. */
export const namedLateFlag = 'named-late-1'

/** Written by the recorder. A branch has it when its parent has. */
export const contextsFlag = 'contexts-1'

/** Written by the recorder. A branch has it when its parent has. */
export const fieldsFlag = 'fields-1'

/** Written by the recorder. A branch has it when its parent has. */
export const lateFlag = 'late-1'

/** Written by the recorder. A branch has it when its parent has. */
export const hostsFlag = 'hosts-1'

/** Written by the recorder. A branch has it when its parent has. */
export const socketsFlag = 'sockets-1'

/** Written by the recorder. A branch has it when its parent has. */
export const endsFlag = 'ends-1'

/** Written by the recorder. A branch has it when its parent has. */
export const cutsFlag = 'cuts-2'

/** Of tapes that were recorded before. */
export const firstCutsFlag = 'cuts-1'

/** Headers that the SDKs of OpenAI send where a variable is set: a machine without it would ask for another customer. */
export const tenantVariables: readonly (readonly [header: string, variable: string])[] = [
  ['openai-organization', 'OPENAI_ORG_ID'],
  ['openai-project', 'OPENAI_PROJECT_ID'],
]

/** Written by the recorder where none of `tenantVariables` is set. A branch has it when its parent has. */
export const tenantsFlag = 'tenants-1'

/** Where a machine names a region of AWS. */
export const regionVariables: readonly string[] = ['AWS_REGION', 'AWS_DEFAULT_REGION']

/** Written by the recorder where none of `regionVariables` is set, and no file of AWS configuration is there. A branch has it when its parent has. */
export const regionFlag = 'region-1'

/** Every flag this version can replay: those it writes and those of older versions. */
export const knownFlags: readonly string[] = [
  ...currentFlags,
  headersFlag,
  redactorFlag,
  thirteenthRedactorFlag,
  twelfthRedactorFlag,
  eleventhRedactorFlag,
  tenthRedactorFlag,
  ninthRedactorFlag,
  eighthRedactorFlag,
  seventhRedactorFlag,
  sixthRedactorFlag,
  fifthRedactorFlag,
  fourthRedactorFlag,
  thirdRedactorFlag,
  secondRedactorFlag,
  branchFlag,
  begunFlag,
  contentsFlag,
  contextsFlag,
  fieldsFlag,
  namedLateFlag,
  lateFlag,
  hostsFlag,
  socketsFlag,
  endsFlag,
  cutsFlag,
  firstCutsFlag,
  tenantsFlag,
  regionFlag,
]
