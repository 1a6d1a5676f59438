/** Addresses of one scenario. */
export interface ScenarioInput {
  /** Where the provider listens. */
  readonly base: string
  /** A port of 127.0.0.1 nobody listens on. */
  readonly closedPort: number
}

/** What a scenario may use. */
export interface Place {
  /** A base URL under which the provider misbehaves as `spec` says; counts start anew for every spec. */
  faulty(spec: string): string
  readonly closedPort: number
}

/** One thing that can happen to a client. Its result, errors included, must be the same in a replay. */
export interface Scenario {
  readonly run: (place: Place) => Promise<unknown>
  /** Waits that a replay must pass by virtual timers, at least. */
  readonly timers?: number
}

/** A name that is safe in a URL. */
export function slug(name: string): string {
  return name.replaceAll(/[^a-z0-9]+/gi, '-')
}

/** Runs a scenario; an error is its result, taken apart. */
export async function play(name: string, scenario: Scenario, { base, closedPort }: ScenarioInput): Promise<unknown> {
  const place: Place = { closedPort, faulty: (spec) => `${base}/~${slug(name)}~${spec}` }
  try {
    return { returned: await scenario.run(place) }
  } catch (error) {
    return { threw: errorFacts(error) }
  }
}

/** Everything about an error a program could branch on, down the chain of causes. */
export function errorFacts(error: unknown): unknown {
  if (!(error instanceof Error)) return { value: String(error) }
  const { name, message, cause } = error
  const { code, status, statusCode, errno, syscall } = error as unknown as Record<string, unknown>
  const facts = { constructor: error.constructor.name, name, message, code, status, statusCode, errno, syscall }
  return {
    ...Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined && value !== null)),
    ...(cause === undefined ? {} : { cause: errorFacts(cause) }),
    ...(error instanceof AggregateError ? { errors: error.errors.map(errorFacts) } : {}),
  }
}
