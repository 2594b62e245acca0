/** What is special about the image of each operator. */
import { ImageError } from './image-error.ts'
import type { Platform } from './platform.ts'

/** The image of one operator. */
export interface ImageDefinition {
  /** Name of the image and of its command. */
  readonly name: string
  /** Goes before the version in the tag, as the chart of the operator expects it. */
  readonly tagPrefix: '' | 'v'
  /** Folder of the operator. */
  readonly workspace: string
  /** One sentence for the label `org.opencontainers.image.description`. */
  readonly description: string
  /** User and group that the process runs as; never root. */
  readonly user: string
  /** Whether the operator runs helm. */
  readonly hasHelm: boolean
  /** Debian packages beside those that Node needs. */
  readonly debianPackages: readonly string[]
  /** npm packages with binaries, which a bundle cannot contain. */
  readonly nativePackages: (platform: Platform) => readonly string[]
  /** An option of Node for all its processes. One at most: the kernel passes the rest of the first line of a script as one. */
  readonly nodeOption?: string
}

/**
 * Makes the memory allocator of Debian's C library return what the threads of Node do not use: about 10 MiB of a process
 * that has worked. Without it, the allocator has a reserve for each thread, which grows.
 */
export const ALLOCATOR: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: '131072',
}

const DEFINITIONS: Readonly<Record<string, ImageDefinition>> = {
  webapp: {
    name: 'webapp-operator',
    tagPrefix: '',
    workspace: 'operators/webapp',
    description: 'Runs web applications: a WebApp becomes a Deployment, a Service and an Ingress',
    user: '10001:10001',
    hasHelm: false,
    debianPackages: [],
    nativePackages: () => [],
    // From the memory limit V8 derives 1 MiB for new objects, and collects them so often that it takes a fifth of the CPU time.
    nodeOption: '--max-semi-space-size=8',
  },
  collector: {
    name: 'collector-operator',
    tagPrefix: '',
    workspace: 'operators/collector',
    description: 'Installs one Helm release per tenant from Collector resources',
    user: '10001:10001',
    hasHelm: true,
    debianPackages: [],
    nativePackages: () => [],
  },
  dynatrace: {
    name: 'dynatrace-operator',
    tagPrefix: 'v',
    workspace: 'operators/dynatrace',
    description: 'Deploys and configures Dynatrace agents from DynaKube and EdgeConnect resources',
    user: '1001:1001',
    hasHelm: false,
    debianPackages: [],
    // Mounting volumes by system calls.
    nativePackages: (platform) => [
      'koffi',
      platform === 'linux/amd64' ? '@koromix/koffi-linux-x64' : '@koromix/koffi-linux-arm64',
    ],
  },
}

/** The operators that have an image. */
export const OPERATORS: readonly string[] = Object.keys(DEFINITIONS)

/** The image of an operator, by the name of its folder. */
export function imageDefinition(operator: string): ImageDefinition {
  const definition = Object.hasOwn(DEFINITIONS, operator) ? DEFINITIONS[operator] : undefined
  if (definition === undefined) throw new ImageError(`unknown operator "${operator}"; use ${OPERATORS.join(', ')}`)
  return definition
}

/**
 * The name of an image that was built here and not pushed, which is what its chart uses by default. No registry is searched
 * for such names.
 *
 * @example
 * localReference(imageDefinition('dynatrace'), 'v0.1.0') // 'localhost/dynatrace-operator:v0.1.0'
 */
export function localReference({ name }: ImageDefinition, tag: string): string {
  return `localhost/${name}:${tag}`
}

/** The tag of a version. */
export function defaultTag({ tagPrefix }: ImageDefinition, version: string): string {
  return `${tagPrefix}${version}`
}
