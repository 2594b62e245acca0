/** Normalizes objects of an older version where the API has several forms of the same meaning. */

type Json = Record<string, unknown>

/** Members for which absent and empty mean the same, the inner ones first. */
const EMPTY_IS_ABSENT = [
  'spec.metadataEnrichment.namespaceSelector',
  'spec.metadataEnrichment',
  'spec.oneAgent',
  'spec.templates.kspmNodeConfigurationCollector.nodeAffinity',
  'spec.templates.kspmNodeConfigurationCollector',
  'spec.templates.otelCollector.imageRef',
  'spec.templates.otelCollector',
  'spec.templates',
  'status.activeGate.connectionInfoStatus',
  'status.activeGate',
  'status.oneAgent.connectionInfoStatus',
  'status.oneAgent',
  'status.codeModules',
  'status.dynatraceApi',
  'status.kspm',
  'status.metadataEnrichment',
  'status.version',
  'status',
]

const MODES = ['classicFullStack', 'cloudNativeFullStack', 'applicationMonitoring', 'hostMonitoring']

/**
 * What an object of an older DynaKube version means: one mode, no paths for KSPM, no switch of enrichment rules, no
 * ephemeral volume besides a claim, and none of the members for which empty is absent.
 */
export function meaning(object: object): unknown {
  const copy = structuredClone(object) as Json
  const oneAgent = at(copy, 'spec.oneAgent')
  const active = MODES.find((mode) => oneAgent?.[mode])
  for (const mode of MODES) if (mode !== active) delete oneAgent?.[mode]
  delete at(copy, 'spec.kspm')?.mappedHostPaths
  const rules = at(copy, 'status.metadataEnrichment')?.rules
  if (Array.isArray(rules)) for (const rule of rules) delete rule.enabled
  const image = at(copy, 'spec.templates.otelCollector.imageRef')
  if (image && !image.repository && !image.tag) {
    delete image.repository
    delete image.tag
  }
  const activeGate = at(copy, 'spec.activeGate')
  if (activeGate?.volumeClaimTemplate || activeGate?.persistentVolumeClaim) delete activeGate.useEphemeralVolume
  for (const path of EMPTY_IS_ABSENT) removeEmpty(copy, path)
  return copy
}

function at(object: Json, path: string): Json | undefined {
  let node: unknown = object
  for (const name of path.split('.')) node = (node as Json | undefined)?.[name]
  return node as Json | undefined
}

function removeEmpty(object: Json, path: string): void {
  const parent = path.includes('.') ? at(object, path.slice(0, path.lastIndexOf('.'))) : object
  const name = path.slice(path.lastIndexOf('.') + 1)
  const value = parent?.[name]
  if (value && Object.keys(value).length === 0) delete parent?.[name]
}
