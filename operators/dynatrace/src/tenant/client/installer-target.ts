/** Which agent is meant: operating system, installer type, flavor and processor, in the tenant's words. */

/** What selects an installer. */
export interface InstallerTarget {
  /** `unix` is the only one in use. */
  readonly os: string
  /** `default` installs on hosts, `paas` contains code modules. */
  readonly type: string
  readonly flavor: string
  /** Absent for type `default`. */
  readonly arch?: string
}

/** The installer for hosts. */
export const hostInstaller: InstallerTarget = Object.freeze({ os: 'unix', type: 'default', flavor: 'default' })

const CODE_MODULES: Readonly<Record<string, Pick<Required<InstallerTarget>, 'arch' | 'flavor'>>> = {
  x64: { arch: 'x86', flavor: 'multidistro' },
  arm64: { arch: 'arm', flavor: 'multidistro' },
  ppc64: { arch: 'ppcle', flavor: 'default' },
  s390x: { arch: 's390', flavor: 'default' },
}

/**
 * The code modules for a processor, by Node's name of it.
 *
 * @example
 * codeModules('x64') // { os: 'unix', type: 'paas', arch: 'x86', flavor: 'multidistro' }
 */
export function codeModules(architecture: string = process.arch): InstallerTarget {
  const { arch, flavor } = CODE_MODULES[architecture] ?? { arch: 'x86', flavor: 'multidistro' }
  return { os: 'unix', type: 'paas', arch, flavor }
}
