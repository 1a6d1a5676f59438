import { type ChildProcess, fork } from 'node:child_process'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import type { How } from './production.ts'
import type { Figures } from './service.ts'

/** A process that answers questions one after another. */
export class Child {
  readonly #process: ChildProcess

  private constructor(child: ChildProcess) {
    this.#process = child
  }

  /**
   * Starts `bench/record-overhead/<file>` and waits for its first word.
   *
   * @param first - a file beside it that is loaded before all else
   */
  static async start<T>(file: string, args: readonly string[], first?: string): Promise<{ child: Child; said: T }> {
    const path = join(import.meta.dirname, file)
    const preload = first === undefined ? [] : ['--import', join(import.meta.dirname, first)]
    const execArgv = ['--expose-gc', '--disable-warning=ExperimentalWarning', ...preload]
    const child = new Child(fork(path, [...args], { execArgv }))
    return { child, said: await child.#next<T>() }
  }

  ask<T>(question: unknown): Promise<T> {
    const answer = this.#next<T>()
    this.#process.send(question as object)
    return answer
  }

  stop(): void {
    this.#process.disconnect()
  }

  #next<T>(): Promise<T> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null): void => reject(new Error(`a process of the bench ended with ${code}`))
      this.#process.once('exit', ended)
      this.#process.once('message', (message) => {
        this.#process.off('exit', ended)
        resolve(message as T)
      })
    })
  }
}

/** A service under load. */
export class Service {
  readonly how: How
  readonly #child: Child
  readonly #port: number
  readonly #agent = new Agent({ keepAlive: true })

  private constructor(how: How, child: Child, port: number) {
    this.how = how
    this.#child = child
    this.#port = port
  }

  static async start(how: How, provider: string, dir: string): Promise<Service> {
    const { child, said } = await Child.start<{ port: number }>('service.ts', [how, provider, dir], 'production.ts')
    return new Service(how, child, said.port)
  }

  figures(): Promise<Figures> {
    return this.#child.ask<Figures>('figures')
  }

  settled(): Promise<Figures> {
    return this.#child.ask<Figures>('settled')
  }

  /** Sends so many requests, so many of them at a time; tells how long each took, in milliseconds. */
  async load(requests: number, concurrent: number, path = '/'): Promise<readonly number[]> {
    const latencies: number[] = []
    let sent = 0
    const lane = async (): Promise<void> => {
      while (sent < requests) {
        const begin = performance.now()
        await this.#post(path, `Please refund my order ${++sent}.`)
        latencies.push(performance.now() - begin)
      }
    }
    await Promise.all(Array.from({ length: concurrent }, lane))
    return latencies
  }

  stop(): void {
    this.#agent.destroy()
    this.#child.stop()
  }

  #post(path: string, text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port: this.#port, path, method: 'POST', agent: this.#agent },
        (response) => {
          response.resume()
          response.on('end', () => {
            if (response.statusCode === 200) resolve()
            else reject(new Error(`the service answered ${response.statusCode}`))
          })
        },
      )
      sent.on('error', reject)
      sent.end(JSON.stringify({ text }))
    })
  }
}
