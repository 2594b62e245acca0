/** Which installer a path and query select. */

import type { PathParameters } from '../http/router.ts'
import { Refusal, violation } from '../refusal.ts'

const SYSTEMS = ['aix', 'solaris', 'unix', 'windows', 'zos']
const TYPES = ['default', 'default-unattended', 'mainframe', 'paas', 'paas-sh']
const FLAVORS = ['default', 'multidistro', 'musl']
const ARCHITECTURES = ['all', 'arm', 'ppc', 'ppcle', 's390', 'sparc', 'x86', 'zos']
const BITNESSES = ['32', '64', 'all']

/** What runs on Linux, which is all that is simulated. */
const LINUX_ARCHITECTURES = new Set(['all', 'arm', 'ppcle', 's390', 'x86'])

/** An installer. */
export interface Installer {
  readonly type: string
  readonly flavor: string
  readonly arch: string
}

/** *Errors*: 400 for words that the API does not know, 404 for installers that do not exist. */
export function readInstaller(parameters: PathParameters, query: URLSearchParams): Installer {
  const os = oneOf('PATH', 'osType', parameters.os ?? '', SYSTEMS)
  const type = oneOf('PATH', 'installerType', parameters.type ?? '', TYPES)
  const flavor = oneOf('QUERY', 'flavor', query.get('flavor') ?? 'default', FLAVORS)
  const arch = oneOf('QUERY', 'arch', query.get('arch') ?? 'all', ARCHITECTURES)
  oneOf('QUERY', 'bitness', query.get('bitness') ?? '64', BITNESSES)
  if (os !== 'unix' || !LINUX_ARCHITECTURES.has(arch)) {
    throw new Refusal(404, `There is no installer for operating system ${os} and architecture ${arch}.`)
  }
  return { type, flavor, arch }
}

function oneOf(location: 'PATH' | 'QUERY', name: string, value: string, known: readonly string[]): string {
  if (known.includes(value)) return value
  throw violation(location, name, `'${value}' must be any of [${known.join(', ')}]`)
}
