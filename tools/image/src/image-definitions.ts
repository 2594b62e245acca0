/** What is special about the image of each operator. */
import { ImageError } from './image-error.ts'
import type { Platform } from './platform.ts'

/** The image of one operator. */
export interface ImageDefinition {
  /** Name of the image and of its command. */
  readonly name: string
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
}

const DEFINITIONS: Readonly<Record<string, ImageDefinition>> = {
  webapp: {
    name: 'webapp-operator',
    workspace: 'operators/webapp',
    description: 'Runs web applications: a WebApp becomes a Deployment, a Service and an Ingress',
    user: '10001:10001',
    hasHelm: false,
    debianPackages: [],
    nativePackages: () => [],
  },
  collector: {
    name: 'collector-operator',
    workspace: 'operators/collector',
    description: 'Installs one Helm release per tenant from Collector resources',
    user: '10001:10001',
    hasHelm: true,
    debianPackages: [],
    nativePackages: () => [],
  },
  dynatrace: {
    name: 'dynatrace-operator',
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
