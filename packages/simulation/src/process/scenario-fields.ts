/** Reads the fields of a scenario file, and says where in the file something is wrong. */
import { isRecord } from '@reeve/http'
import type { PlainObject } from '../operator-under-test.ts'

/** A scenario file that cannot be used. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError'
  readonly code = 'SCENARIO'
}

/** The fields of one object of the file. Every field that was not asked for is a mistake. */
export class Fields {
  readonly #object: PlainObject
  readonly #path: string
  readonly #known = new Set<string>()

  /** @param path such as `steps[2]`; empty for the whole file */
  constructor(value: unknown, path: string) {
    if (!isRecord(value)) throw new ScenarioError(`${path === '' ? 'the scenario' : path} must be an object`)
    this.#object = value
    this.#path = path
  }

  /** Fails if there are fields that were not read. */
  end(): void {
    const unknown = Object.keys(this.#object).find((name) => !this.#known.has(name))
    if (unknown === undefined) return
    const known = [...this.#known].join(', ')
    throw new ScenarioError(`${this.at(unknown)} is not a known field; use ${known}`)
  }

  /** Where a field is, for messages. */
  at(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`
  }

  value(name: string): unknown {
    this.#known.add(name)
    return this.#object[name]
  }

  text(name: string): string | undefined {
    const value = this.value(name)
    if (value === undefined || typeof value === 'string') return value
    throw new ScenarioError(`${this.at(name)} must be a text, not ${JSON.stringify(value)}`)
  }

  flag(name: string): boolean | undefined {
    const value = this.value(name)
    if (value === undefined || typeof value === 'boolean') return value
    throw new ScenarioError(`${this.at(name)} must be true or false, not ${JSON.stringify(value)}`)
  }

  /** A duration such as `500ms`, `5s` or `2m`, in milliseconds. */
  duration(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const [, digits = '', unit = ''] = /^(\d+)(ms|s|m)$/.exec(text) ?? []
    if (digits === '') throw new ScenarioError(`${this.at(name)} must be a duration such as 5s, not "${text}"`)
    return Number(digits) * ({ ms: 1, s: 1_000, m: 60_000 }[unit] ?? 1)
  }

  list(name: string): readonly unknown[] {
    const value = this.value(name) ?? []
    if (Array.isArray(value)) return value
    throw new ScenarioError(`${this.at(name)} must be a list`)
  }

  texts(name: string): readonly string[] {
    return this.list(name).map((value, index) => {
      if (typeof value === 'string') return value
      throw new ScenarioError(`${this.at(name)}[${index}] must be a text, not ${JSON.stringify(value)}`)
    })
  }

  /** The objects in a list, each with its own path. */
  objects(name: string): readonly Fields[] {
    return this.list(name).map((value, index) => new Fields(value, `${this.at(name)}[${index}]`))
  }

  object(name: string): Fields | undefined {
    const value = this.value(name)
    return value === undefined ? undefined : new Fields(value, this.at(name))
  }

  /** A map of texts. */
  map(name: string): Readonly<Record<string, string>> {
    const value = this.value(name) ?? {}
    if (!isRecord(value)) throw new ScenarioError(`${this.at(name)} must be a map`)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, String(item)]))
  }
}
