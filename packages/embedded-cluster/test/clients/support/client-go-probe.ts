/** The Go program with client-go that the real-cluster tooling builds, and its expected output. */
import { ensureClientProbe, findBinaries, findClientProbe, hasGo } from '@reeve/real-cluster'

/** The expected output of the program. */
export const EXPECTED = [
  'server 1.35',
  'add first size=1',
  'add second size=1',
  'update second size=2',
  'delete second size=2',
  'delete first size=1',
  'conflict true',
  'already exists true',
  'not found true',
  'invalid true',
  'deployment ready',
  'leader first',
  'leader second',
  'lease second transitions=1',
  '',
].join('\n')

/** The program, or why it is not available. */
export type Probe = { readonly path: string } | { readonly missing: string }

/** A run on the embedded cluster does not compile Kubernetes for minutes: it uses an existing build. */
export async function clientGoProbe(): Promise<Probe> {
  const path = await findClientProbe()
  if (path !== undefined) return { path }
  if (!(await hasGo())) return { missing: 'Go is not on the PATH, and the program is written in Go' }
  const mayBuild = process.env.REEVE_TEST_CLUSTER === 'real' || (await findBinaries()) !== undefined
  if (mayBuild) return { path: await ensureClientProbe() }
  return { missing: 'the program is built by `npm run test:real`, which has not been run on this machine' }
}
