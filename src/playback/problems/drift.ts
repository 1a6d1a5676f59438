import { HarvestError, shellWord } from '../../errors/index.ts'
import { neutralLine } from '../../errors/neutral.ts'
import type { Drift, DriftClass } from '../../match/types.ts'
import { socketName } from '../../seam/connection.ts'
import { subprotocolHeader } from '../../match/subprotocol.ts'
import { holdsKey } from '../../match/credentials.ts'
import type { Tape } from '../../tape/index.ts'
import { recordAgain, showDifference } from './place.ts'

/** A difference that makes it another behaviour. */
export function driftRefused(tape: Tape, drift: Drift, isStrict: boolean, hasThrown = false): HarvestError {
  const { class: name, stepNumber, site, words } = drift
  return new HarvestError('HARVEST_DRIFT', {
    what: refusal(drift, isStrict, hasThrown),
    where: {
      tape: tape.header.id,
      step: String(stepNumber),
      ...(site ? { at: site } : {}),
      ...(drift.path === '' || drift.path === drift.part ? {} : { path: drift.path }),
    },
    detail: words === '' ? showDifference(drift) : `  changed  ${words}`,
    ...(isStrict ? {} : { why: reasonFor(drift) }),
    fix: isStrict
      ? [`to compare what the agent does instead of every byte: npx vitest-harvest replay ${shellWord(tape.header.id)}`]
      : [
          `to see the recorded step: npx vitest-harvest show ${shellWord(tape.header.id)} --step ${shellWord(stepNumber)}`,
          recordAgain,
          `if such a change is harmless: drift: { ${name}: 'report' }`,
        ],
  })
}

/** Two recorded keys are one on this machine: which of them the agent sent, no replay can tell. */
export function sharedKey(
  tape: Tape,
  { stepNumber, site, part, words }: Drift,
  names: readonly string[],
): HarvestError {
  const all = names.map((name) => neutralLine(name, 80))
  return new HarvestError('HARVEST_DRIFT', {
    what: `One value stands for two recorded keys here: ${neutralLine(part)}`,
    where: {
      tape: tape.header.id,
      step: String(stepNumber),
      ...(site ? { at: site } : {}),
      variables: `${all.join(', ')} have one value`,
    },
    detail: `  changed  ${words}`,
    why: 'The recorded run sent two keys to this service. With one value for both, no replay can tell which is sent.',
    fix: [
      'give each variable a value of its own, any text will do: `test.env` in the Vitest config',
      'or set none: a replay of a case lends each its own',
    ],
  })
}

function refusal({ class: name, part, path }: Drift, isStrict: boolean, hasThrown: boolean): string {
  if (isStrict) return `Not as recorded: ${neutralLine(part === '' ? name : part)}`
  const shown = neutralLine(part)
  switch (name) {
    case 'arguments':
      return `The agent called ${shown} with other arguments than when this run was recorded`
    case 'destination':
      return `The agent sent a request that changes data to another ${path === socketName ? 'unix socket' : 'host'} than when this run was recorded`
    case 'results':
      return `${shown} returned a different value than recorded`
    case 'redacted':
      return `The agent sent another value where the tape has a placeholder: ${shown}`
    case 'awaits':
      return path === ''
        ? `The agent ${hasThrown ? 'threw' : 'returned'} without waiting for ${shown}`
        : `The agent waits for less or more than when this run was recorded: ${shown}`
    case 'functions':
      return `Another function than recorded is behind the agent's ${shown}`
    case 'timers':
      return `The agent waits for another time than when this run was recorded: ${shown}`
    case 'guards':
      if (path === subprotocolHeader)
        return 'The agent offers another WebSocket subprotocol than when this run was recorded'
      return `The agent sent a request with other headers than when this run was recorded: ${shown}`
    case 'credentials':
    case 'headers':
      return `The agent sent a request with other headers than when this run was recorded: ${shown}`
    case 'agentMessages':
    case 'marks':
    case 'states':
      return `The agent's ${shown} is not as recorded`
    default:
      return `The question to the model changed: ${shown}`
  }
}

function reasonFor({ class: name, path, recorded, live }: Drift): string {
  // Who asks may be said without a key: by a customer's number.
  if (name === 'credentials' && ![recorded, live].some(holdsKey))
    return 'This header says who asks. The tape has its value, and a test has to send the same.'
  if (name === 'guards' && path === subprotocolHeader)
    return 'The recorded server took this one. Clients break off a connection whose server takes what they did not offer.'
  return reasons[name] ?? 'The config or the case sets this class of drift to `fail`.'
}

const reasons: Readonly<Partial<Record<DriftClass, string>>> = {
  arguments: 'The model answered as recorded, so only the code of the agent can have changed what it passes on.',
  destination: 'What was done at one place is now done at another.',
  results: 'The tool ran with the recorded arguments, so its code returns something else.',
  guards:
    'The service was asked to do it under this condition, or to take two requests for one. Now it would act otherwise.',
  credentials: 'The tape numbers the keys of a run and holds none. A test may use any values, one for each key.',
  redacted:
    'The tape holds a placeholder and the keyed fingerprint of its value, which is not that of the value sent now.',
  agentMessages: 'Another agent gets a different message.',
}
