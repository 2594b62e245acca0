/** The conformance specs of a Kubernetes version, and which of them apply to a cluster without containers. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { parse } from 'yaml'

/** One conformance test of Kubernetes. */
export interface Spec {
  /** Its full text, such as `[sig-apps] Deployment … [Conformance]`. */
  readonly name: string
  /** Such as `sig-apps`. */
  readonly sig: string
  /** Whether it must run alone: it changes the whole cluster, such as its nodes. */
  readonly isSerial: boolean
  /** Why it does not apply to clusters without containers; absent if it does. */
  readonly notApplicable?: string
}

const execFileAsync = promisify(execFile)
const EXCEPTIONS = new URL('../not-applicable.yaml', import.meta.url)
const MAX_LIST_BYTES = 16 * 1024 * 1024

/**
 * All conformance specs that `program` contains, in its order.
 *
 * *Errors*: `UnknownSpecError` if `not-applicable.yaml` has a spec that does not exist.
 */
export async function readSpecs(program: string): Promise<readonly Spec[]> {
  const { stdout } = await execFileAsync(program, ['--list-conformance-tests'], { maxBuffer: MAX_LIST_BYTES })
  // Printed by the program with this shape.
  const tests = parse(stdout) as readonly { readonly codename: string }[]
  return classify(
    tests.map(({ codename }) => codename),
    parseExceptions(await readFile(EXCEPTIONS, 'utf8')),
  )
}

/** Adds to each spec what its name and the exceptions say about it. */
export function classify(names: readonly string[], exceptions: ReadonlyMap<string, string>): readonly Spec[] {
  const unknown = [...exceptions.keys()].filter((name) => !names.includes(name))
  if (unknown.length > 0) throw new UnknownSpecError(unknown)
  return names.map((name) => {
    const reason = exceptions.get(name)
    return {
      name,
      sig: /^\[(sig-[a-z-]+)\]/.exec(name)?.[1] ?? 'other',
      isSerial: name.includes('[Serial]'),
      ...(reason === undefined ? {} : { notApplicable: reason }),
    }
  })
}

/** The reason of each spec in the text of `not-applicable.yaml`. */
export function parseExceptions(text: string): ReadonlyMap<string, string> {
  // The file is part of this package; its test checks the shape.
  const groups = parse(text) as readonly { readonly reason: string; readonly specs: readonly string[] }[]
  return new Map(groups.flatMap(({ reason, specs }) => specs.map((name) => [name, reason] as const)))
}

/** The list of exceptions does not match the specs of this version. */
export class UnknownSpecError extends Error {
  readonly code = 'CONFORMANCE_UNKNOWN_SPEC'

  constructor(names: readonly string[]) {
    super(`not-applicable.yaml has specs that this version does not have; remove or rename them:\n${names.join('\n')}`)
    this.name = 'UnknownSpecError'
  }
}
