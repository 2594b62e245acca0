/** Chooses which versions of helm a suite tries. */
import { type FindOptions, findClientBinary } from './find-client-binary.ts'

/** A helm, and how the names of suites call it. */
export interface HelmToTry {
  readonly name: string
  /** Absent where there is none. */
  readonly path: string | undefined
}

/**
 * The usual helm and, on a real cluster, the one of the major version before: suites of every day are to be fast, and
 * what differs between the two shows there as well.
 *
 * @example
 * describe.skipIf(helmPath === undefined).each(await helmsToTry())('a release of $name', ({ path }) => …)
 */
export async function helmsToTry(options: FindOptions = {}): Promise<readonly HelmToTry[]> {
  const { env = process.env } = options
  const path = await findClientBinary('helm', options)
  const usual = { name: path === undefined ? 'helm (skipped: there is none)' : 'helm', path }
  const older = env.REEVE_TEST_CLUSTER === 'real' ? await findClientBinary('helm3', options) : undefined
  return older === undefined ? [usual] : [usual, { name: 'helm 3', path: older }]
}
