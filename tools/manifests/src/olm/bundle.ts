/** The OLM bundle of the Dynatrace operator. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { UnknownObject } from '@reeve/kube'
import { parse, parseAllDocuments } from 'yaml'
import type { OutputFile } from '../kustomize-base.ts'
import { manifestYaml } from '../manifest-yaml.ts'
import type { Values } from '../merge-values.ts'
import { type ChartMetadata, clusterServiceVersion } from './cluster-service-version.ts'

/**
 * Values of the chart for OLM. A bundle can have neither DaemonSets nor CSIDrivers, so the CSI driver is disabled and the
 * operator rejects DynaKubes that need it.
 */
export const OLM_VALUES: Values = {
  olm: true,
  manifests: true,
  platform: 'kubernetes',
  csidriver: { enabled: false },
  imageRef: { pullPolicy: 'IfNotPresent' },
}

/** One sample for every version that OLM shows. */
const SAMPLES = [
  ...['v1beta3', 'v1beta4', 'v1beta5', 'v1beta6'].map((version) => `dynakube/${version}/cloud-native-full-stack.yaml`),
  ...['v1alpha1', 'v1alpha2'].map((version) => `edgeconnect/${version}/edgeconnect.yaml`),
]

const CHANNEL = 'alpha'

/** The files of the bundle, from the folder of the operator and the objects of its chart with `OLM_VALUES`. */
export async function olmBundle(operator: string, objects: readonly UnknownObject[]): Promise<readonly OutputFile[]> {
  // Our own files: their shape is known.
  const chart = parse(await readFile(join(operator, 'chart/Chart.yaml'), 'utf8')) as ChartMetadata
  const version = clusterServiceVersion(chart, objects, await samplesOf(operator))
  const manifests = [
    { name: `${chart.name}.clusterserviceversion`, object: version },
    ...objects.filter(isCrd).map((crd) => ({ name: crd.metadata.name, object: withoutConversion(crd) })),
    ...extraObjects(objects).map((object) => ({
      name: `${object.metadata.name}.${object.kind.toLowerCase()}`,
      object: withoutNamespace(object),
    })),
  ]
  return [
    ...manifests.map(({ name, object }) => ({ path: `manifests/${name}.yaml`, content: manifestYaml([object]) })),
    { path: 'metadata/annotations.yaml', content: manifestYaml([{ annotations: annotationsOf(chart) }]) },
  ]
}

async function samplesOf(operator: string): Promise<readonly UnknownObject[]> {
  const texts = await Promise.all(SAMPLES.map((path) => readFile(join(operator, 'samples', path), 'utf8')))
  const objects = texts.map((text) => parseAllDocuments(text)[0]?.toJS() as UnknownObject)
  // OLM proposes the namespace that the user looks at.
  return objects.map(withoutNamespace)
}

const isCrd = ({ kind }: UnknownObject) => kind === 'CustomResourceDefinition'

/** What a ClusterServiceVersion has no field for: the budget, and accounts without permissions. */
function extraObjects(objects: readonly UnknownObject[]): readonly UnknownObject[] {
  const bound = new Set(
    objects.filter(({ kind }) => kind.endsWith('RoleBinding')).flatMap(({ subjects }) => subjects as readonly object[]),
  )
  const names = new Set([...bound].map((subject) => 'name' in subject && subject.name))
  return objects.filter(
    ({ kind, metadata }) => kind === 'PodDisruptionBudget' || (kind === 'ServiceAccount' && !names.has(metadata.name)),
  )
}

/** OLM sets the conversion when the webhook is ready. */
function withoutConversion(crd: UnknownObject): UnknownObject {
  const { conversion, ...spec } = crd.spec as { readonly conversion?: object }
  return { ...crd, spec }
}

/** OLM installs into the namespace of the OperatorGroup. */
function withoutNamespace(object: UnknownObject): UnknownObject {
  const { namespace, ...metadata } = object.metadata
  return { ...object, metadata }
}

function annotationsOf({ name }: ChartMetadata): Readonly<Record<string, string>> {
  const prefix = 'operators.operatorframework.io.bundle'
  return {
    [`${prefix}.mediatype.v1`]: 'registry+v1',
    [`${prefix}.manifests.v1`]: 'manifests/',
    [`${prefix}.metadata.v1`]: 'metadata/',
    [`${prefix}.package.v1`]: name,
    [`${prefix}.channels.v1`]: CHANNEL,
    [`${prefix}.channel.default.v1`]: CHANNEL,
  }
}
