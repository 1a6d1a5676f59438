/**
 * The families of planted causes: what each plants and what blame has to answer. Both levels of the validation, the one
 * over models of an agent and the one over real runs, use these names.
 */
export const families = [
  // The five classes that other tools validate with, at a random step of a long run.
  family('F0.corrupted_tool_output', 'step', 'a tool answers a wrong value'),
  family('F0.misleading_retrieval', 'step', 'a search finds a wrong document'),
  family('F0.wrong_system_prompt', 'step', 'one model call gets a wrong system prompt'),
  family('F0.dropped_message', 'step', 'a message between agents never arrives'),
  family('F0.poisoned_argument', 'step', 'the model calls a tool with a wrong argument'),
  // Values of the right shape that are wrong.
  family('F1.stale_balance', 'step', 'a value is the one of an earlier read'),
  family('F1.swapped_fields', 'step', 'two fields have each other’s value'),
  family('F1.transposed_digits', 'step', 'two digits of a number are swapped'),
  family('F1.unit_change', 'step', 'an amount is in another unit'),
  family('F1.empty_list', 'step', 'a list is empty that is not'),
  // What happens to an HTTP exchange. A crash of the agent is an outcome.
  family('F2.http_429', 'step', 'too many requests, without Retry-After'),
  family('F2.http_429_retry_after', 'step', 'too many requests, with Retry-After'),
  family('F2.http_500', 'step', 'an error of the server'),
  family('F2.http_503', 'step', 'the server is not available'),
  family('F2.http_529', 'step', 'the server is overloaded'),
  family('F2.reset_mid_body', 'step', 'the connection breaks in the middle of an answer'),
  family('F2.truncated_json', 'step', 'an answer ends too early'),
  family('F2.truncated_sse', 'step', 'a stream ends without its last event'),
  family('F2.malformed_chunk', 'step', 'an event of a stream is no JSON'),
  family('F2.wrong_content_type', 'step', 'an answer is a page of HTML'),
  family('F2.empty_200', 'step', 'an answer is empty'),
  family('F2.slow_loris', 'step', 'an answer never ends'),
  family('F2.duplicate_delivery', 'step', 'the events of a stream arrive twice'),
  // Order and time.
  family('F3.arrival_permutation', 'block', 'answers under way at the same time arrive in another order'),
  family('F3.clock_skew', 'step', 'a service whose clock is off'),
  family('F3.dst_edge', 'step', 'a local time that there is twice'),
  family('F3.timeout', 'step', 'a call that gave up waiting'),
  family('F3.id_collision', 'step', 'two things of the same id'),
  // Differences that do not matter, three to ten in one run beside one true cause: they must not be blamed.
  family('F4.paraphrase', 'step', 'answers in other words'),
  family('F4.extra_field', 'step', 'answers with an unread extra field'),
  family('F4.ignored_error', 'step', 'ignored errors'),
  family('F4.loud_apology', 'step', 'answers that apologise without an error'),
  family('F4.retried_429', 'step', 'refused requests that a second try answered'),
  // How several causes combine.
  family('F5.single', 'step', 'one cause'),
  family('F5.and_2', 'step', 'two causes that harm together only'),
  family('F5.and_3', 'step', 'three causes that harm together only'),
  family('F5.or_2', 'step', 'two causes, each enough'),
  family('F5.or_3', 'step', 'three causes, each enough'),
  family('F5.two_of_three', 'step', 'three causes, any two are enough'),
  family('F5.xor', 'step', 'one cause that a second one would undo'),
  family('F5.gate_payload', 'step', 'a gate that lets a later payload through'),
  family('F5.preemption_early', 'step', 'a cause, and a later one that would have acted in its place'),
  family('F5.preemption_late', 'step', 'a cause that keeps an earlier one from acting'),
  family('F5.echo_chain', 'step', 'a cause that later steps repeat'),
  family('F5.early_cause_late_symptom', 'step', 'a cause at the beginning, seen at the end'),
  family('F5.erosion', 'diffuse', 'chances that get less with every step'),
  family('F5.dip_and_recover', 'step', 'a harm that is made good again, and another one that is not'),
  family('F5.never', 'never', 'a run that could not have ended well'),
  // Noise. Truth is the curve of the chances, and its largest drop.
  family('F6.slip', 'step', 'one cause, and calls that go wrong by chance'),
  family('F6.recurrence', 'step', 'a cause that often recurs when resampled'),
  family('F6.quiet_chance', 'step', 'a model that says the same each time and decides right now and then'),
  family('F6.self_correction', 'diffuse', 'an agent that often finds its own mistakes'),
  // Nothing to be found.
  family('F7.no_op_mutation', 'none', 'a mutation that changes nothing, in an agent that errs by chance'),
  family('F7.identical_response', 'none', 'the recorded answer given again'),
  family('F7.passing_run', 'none', 'a run that went well'),
  family('F7.environment', 'never', 'a run that fails by its environment alone'),
  family('F7.flaky_oracle', 'refused', 'the oracle misgrades three runs in ten'),
  family('F7.mistyped_question', 'refused', 'a tool in the question that no run knows'),
  family('F7.taped_tools', 'never', 'a wrong answer on the tape, which answers every fork'),
  family('F7.changed_code', 'never', 'a run that went well and fails by changed code alone'),
  // The model is another one.
  family('F8.model_swap_from_step', 'model', 'another model answers from some step on'),
  family('F8.model_swap_global', 'model', 'another model answers the whole run'),
  family('F8.pinned_id_mismatch', 'refused', 'the model of the tape is not the one that is asked now'),
  // Several agents: the cause lies with one, the symptom with another.
  family('F9.message_dropped', 'step', 'a message never arrives'),
  family('F9.message_delayed', 'step', 'a message arrives too late'),
  family('F9.message_duplicated', 'step', 'a message arrives twice'),
  family('F9.message_contradicting', 'step', 'a second message says the opposite'),
  // The agent is another one: the tape is of a run that went well, and a replay parts from it.
  family('F10.code_change', 'divergence', 'a changed line of the agent'),
  family('F10.prompt_change', 'divergence', 'a changed prompt'),
  family('F10.accepted_change', 'step', 'one cause, and a changed outcome that was accepted'),
  family('F10.tool_schema_change', 'divergence', 'a changed tool schema'),
] as const satisfies readonly BenchmarkFamily[]

/** Name of a family, such as `F5.and_2`. */
export type FamilyName = (typeof families)[number]['name']

/** `F0` to `F10`. */
export type FamilyGroup = FamilyName extends `${infer Group}.${string}` ? Group : never

/**
 * What blame has to answer:
 * `step`, the step that decided the outcome; `block`, the steps under way at the same time that did;
 * `diffuse`, no single one, or the right one; `never`, nothing the run could have done; `none`, that there is nothing;
 * `model`, that it is the model and no step; `refused`, not without a yes; `divergence`, the step at which a
 * replay parts from its tape.
 */
export type ExpectedAnswer = 'step' | 'block' | 'diffuse' | 'never' | 'none' | 'model' | 'refused' | 'divergence'

export interface BenchmarkFamily<Name extends string = string, Right extends ExpectedAnswer = ExpectedAnswer> {
  readonly name: Name
  readonly answer: Right
  /** What is planted, for people. */
  readonly plants: string
}

/** The group of a family: `F5` of `F5.and_2`. */
export function groupOf(name: FamilyName): FamilyGroup {
  return name.slice(0, name.indexOf('.')) as FamilyGroup
}

function family<const Name extends string, const Right extends ExpectedAnswer>(
  name: Name,
  answer: Right,
  plants: string,
): BenchmarkFamily<Name, Right> {
  return { name, answer, plants }
}
