/** The ClusterServiceVersion of the Dynatrace operator: how OLM shows and installs it. */
import type { UnknownObject } from '@reeve/kube'
import { permissionsFrom } from './permissions.ts'
import { webhookDefinitions } from './webhook-definitions.ts'

/** What Chart.yaml says about an operator. */
export interface ChartMetadata {
  readonly name: string
  readonly version: string
  readonly appVersion: string
  readonly description: string
  readonly kubeVersion: string
  readonly keywords: readonly string[]
  readonly maintainers: readonly { readonly name: string }[]
  /** As a data URL. */
  readonly icon: string
}

interface Deployment extends UnknownObject {
  readonly spec: { readonly template: { readonly spec: PodSpec } }
}
interface PodSpec {
  readonly containers: readonly Container[]
  readonly volumes?: readonly { readonly name: string }[]
}
interface Container {
  readonly image: string
  readonly volumeMounts?: readonly { readonly name: string }[]
}
interface Crd extends UnknownObject {
  readonly spec: {
    readonly names: { readonly kind: string }
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: CrdSchema } }[]
  }
}
interface CrdSchema {
  readonly description?: string
}

const WEBHOOK = 'dynatrace-webhook'
/** A volume for certificates, which OLM mounts from a Secret of its own. */
const CERTIFICATES = 'certs-dir'

/** Renders the ClusterServiceVersion from the objects of the chart, rendered for OLM. */
export function clusterServiceVersion(
  chart: ChartMetadata,
  objects: readonly UnknownObject[],
  samples: readonly UnknownObject[],
): UnknownObject {
  // What the chart renders has this form.
  const crds = objects.filter(({ kind }) => kind === 'CustomResourceDefinition') as unknown as readonly Crd[]
  const deployments = objects.filter(({ kind }) => kind === 'Deployment') as unknown as readonly Deployment[]
  const images = new Set(deployments.flatMap(({ spec }) => spec.template.spec.containers.map(({ image }) => image)))
  const [image = ''] = images
  const [provider = { name: '' }] = chart.maintainers
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: {
      name: `${chart.name}.v${chart.version}`,
      annotations: {
        'alm-examples': JSON.stringify(samples, undefined, 2),
        capabilities: 'Seamless Upgrades',
        categories: 'Monitoring',
        containerImage: image,
        description: chart.description,
        'operatorframework.io/suggested-namespace': 'dynatrace',
        support: provider.name,
      },
      labels: Object.fromEntries(
        ['amd64', 'arm64'].map((processor) => [`operatorframework.io/arch.${processor}`, 'supported']),
      ),
    },
    spec: {
      displayName: 'Dynatrace Operator (Reeve)',
      description: `${chart.description}.\n\nCreate a Secret with the tokens of your tenant and a DynaKube in the namespace of the operator.`,
      version: chart.version,
      maturity: 'alpha',
      keywords: chart.keywords,
      provider: { name: provider.name },
      maintainers: chart.maintainers,
      icon: [iconOf(chart)],
      minKubeVersion: chart.kubeVersion.replace(/^>=/, '').replace(/-0$/, ''),
      // Conversion webhooks allow no other mode. The operator itself watches the namespace that it runs in.
      installModes: ['OwnNamespace', 'SingleNamespace', 'MultiNamespace', 'AllNamespaces'].map((type) => ({
        type,
        supported: type === 'AllNamespaces',
      })),
      customresourcedefinitions: { owned: crds.flatMap(ownedVersions) },
      webhookdefinitions: webhookDefinitions(objects, { deploymentName: WEBHOOK, targetPort: 'server-port' }),
      install: {
        strategy: 'deployment',
        spec: {
          deployments: deployments.map((deployment) => ({
            name: deployment.metadata.name,
            label: deployment.metadata.labels,
            spec: withoutCertificates(deployment.spec),
          })),
          permissions: permissionsFrom(objects, 'RoleBinding'),
          clusterPermissions: permissionsFrom(objects, 'ClusterRoleBinding'),
        },
      },
      relatedImages: [...images].map((each) => ({ name: chart.name, image: each })),
    },
  }
}

function ownedVersions({ metadata, spec }: Crd): readonly object[] {
  return spec.versions.map(({ name: version, schema }) => ({
    name: metadata.name,
    version,
    kind: spec.names.kind,
    displayName: spec.names.kind,
    description: schema.openAPIV3Schema.description ?? spec.names.kind,
  }))
}

function withoutCertificates(spec: Deployment['spec']): Deployment['spec'] {
  const pod = spec.template.spec
  const isOther = ({ name }: { readonly name: string }) => name !== CERTIFICATES
  const containers = pod.containers.map(({ volumeMounts, ...rest }) => ({
    ...rest,
    ...(volumeMounts && { volumeMounts: volumeMounts.filter(isOther) }),
  }))
  const volumes = pod.volumes?.filter(isOther)
  return { ...spec, template: { ...spec.template, spec: { ...pod, containers, ...(volumes && { volumes }) } } }
}

function iconOf({ icon }: ChartMetadata): object {
  const [, mediatype = '', text = ''] = /^data:([^,]+),(.*)$/s.exec(icon) ?? []
  return { mediatype, base64data: Buffer.from(decodeURIComponent(text)).toString('base64') }
}
