/**
 * What clients of an API server wrote, and when, from its audit log: exact to a microsecond, by one clock for all, and without a
 * watch of the benchmark, which would compete with the API server for its core.
 */
import { createReadStream } from 'node:fs'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** The user of the measured operator; everybody else is the benchmark. */
export const OPERATOR_USER = 'measured-operator'
const BENCH_USER = 'reeve-admin'

const POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [
    { level: 'None', verbs: ['get', 'list', 'watch'] },
    { level: 'None', resources: [{ group: 'coordination.k8s.io' }] },
    // The image in the body says which change a write results from.
    {
      level: 'Request',
      users: [BENCH_USER, OPERATOR_USER],
      resources: [
        { group: 'example.com', resources: ['webapps'] },
        { group: 'apps', resources: ['deployments'] },
      ],
    },
    { level: 'Metadata', users: [OPERATOR_USER] },
    { level: 'None' },
  ],
}

/** The fields of an audit event that are used. */
interface AuditEvent {
  readonly user: { readonly username: string }
  readonly objectRef?: { readonly resource: string; readonly name?: string; readonly subresource?: string }
  readonly requestObject?: { readonly metadata?: { readonly name?: string } }
  readonly responseStatus?: { readonly code: number }
  readonly requestReceivedTimestamp: string
  readonly stageTimestamp: string
}

/** What happened in a part of the log. */
export interface Observed {
  /** For each change of a WebApp: from the end of its request to the arrival of the first write with its image or a later one. */
  readonly latenciesMs: readonly number[]
  /** Changes that no write has resulted from. */
  readonly unresolved: readonly string[]
  /** Writes of the operator, failed ones too. */
  readonly writes: number
}

/** The audit log of one API server. */
export class AuditLog {
  readonly #path: string

  private constructor(path: string) {
    this.#path = path
  }

  /** Prepares a log in a folder, for an API server that has not started. */
  static async prepare(folder: string): Promise<{ readonly log: AuditLog; readonly flags: readonly string[] }> {
    const [policy, path] = [join(folder, 'audit-policy.json'), join(folder, 'audit.log')]
    await Promise.all([writeFile(policy, JSON.stringify(POLICY)), writeFile(path, '')])
    // In megabytes; the usual 100 would begin a second file in the middle of a round.
    const flags = [`--audit-policy-file=${policy}`, `--audit-log-path=${path}`, '--audit-log-maxsize=100000']
    return { log: new AuditLog(path), flags }
  }

  /** Where the log ends now. */
  async end(): Promise<number> {
    return (await stat(this.#path)).size
  }

  /** Reads what was written after a position, once everything has come to rest. */
  async since(start: number): Promise<Observed> {
    const lines = createInterface({
      input: createReadStream(this.#path, { start }),
      crlfDelay: Number.POSITIVE_INFINITY,
    })
    const changes = new Map<string, { readonly image: string; readonly time: number }[]>()
    const written: { readonly name: string; readonly image: string; readonly time: number }[] = []
    let writes = 0
    for await (const line of lines) {
      const { user, objectRef, requestObject, responseStatus, requestReceivedTimestamp, stageTimestamp } = parse(line)
      const isOperator = user.username === OPERATOR_USER
      if (isOperator) writes++
      if ((responseStatus?.code ?? 0) >= 300 || objectRef?.subresource !== undefined) continue
      const image = /nginx:([\w.]+)/.exec(line)?.[1]
      // The name of an object that is created is only in its body.
      const name = objectRef?.name ?? requestObject?.metadata?.name
      if (name === undefined || image === undefined) continue
      if (isOperator && objectRef?.resource === 'deployments') {
        written.push({ name, image, time: microseconds(requestReceivedTimestamp) })
      } else if (!isOperator && objectRef?.resource === 'webapps') {
        const earlier = changes.get(name) ?? []
        changes.set(name, [...earlier, { image, time: microseconds(stageTimestamp) }])
      }
    }
    const latenciesMs: number[] = []
    const resolved = new Map<string, number>()
    for (const { name, image, time } of written) {
      const ofName = changes.get(name) ?? []
      const last = ofName.findIndex((change) => change.image === image)
      // An operator that lags writes once for several changes.
      for (const change of ofName.slice(resolved.get(name) ?? 0, last + 1))
        latenciesMs.push((time - change.time) / 1_000)
      resolved.set(name, Math.max(resolved.get(name) ?? 0, last + 1))
    }
    const unresolved = [...changes.entries()].flatMap(([name, ofName]) =>
      ofName.slice(resolved.get(name) ?? 0).map(({ image }) => `${name} ${image}`),
    )
    return { latenciesMs, unresolved, writes }
  }
}

/** The line is of the API server that we configured. */
const parse = (line: string): AuditEvent => JSON.parse(line) as AuditEvent

/** `Date` knows milliseconds only. */
function microseconds(timestamp: string): number {
  const [whole = '', fraction = ''] = timestamp.replace('Z', '').split('.')
  return Date.parse(`${whole}Z`) * 1_000 + Number(fraction.padEnd(6, '0'))
}
