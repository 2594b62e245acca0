/** A kustomize base: objects in files by what they are for. */
import type { UnknownObject } from '@reeve/kube'
import { manifestYaml } from './manifest-yaml.ts'

/** A file to write; its path is relative. */
export interface OutputFile {
  readonly path: string
  readonly content: string
}

const FILES: Readonly<Record<string, readonly string[]>> = {
  'crds.yaml': ['CustomResourceDefinition'],
  'rbac.yaml': ['ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'],
  'workloads.yaml': ['Deployment', 'DaemonSet', 'Service', 'PodDisruptionBudget', 'PriorityClass', 'CSIDriver'],
  'webhooks.yaml': ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'],
  'policies.yaml': ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
}

/** Whatever has no file of its own: ConfigMaps, Secrets, Leases. */
const OTHER_FILE = 'configuration.yaml'

/**
 * What kustomize does not know by itself. The settings of a base apply to its overlays, too.
 *
 * An operator that starts pods from its own image finds its name in a variable.
 */
const CONFIGURATION = {
  images: [{ path: 'spec/template/spec/containers[]/env[]/value', kind: 'Deployment' }],
}

/** The files of a base with these objects. */
export function kustomizeBase(objects: readonly UnknownObject[]): readonly OutputFile[] {
  const byFile = Map.groupBy(objects, ({ kind }) => fileOf(kind))
  const resources = [...Object.keys(FILES), OTHER_FILE].filter((file) => byFile.has(file))
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources,
    configurations: ['kustomize-fields.yaml'],
  }
  return [
    { path: 'kustomization.yaml', content: manifestYaml([kustomization]) },
    { path: 'kustomize-fields.yaml', content: manifestYaml([CONFIGURATION]) },
    ...resources.map((path) => ({ path, content: manifestYaml(byFile.get(path) ?? []) })),
  ]
}

function fileOf(kind: string): string {
  const [file = OTHER_FILE] = Object.entries(FILES).find(([, kinds]) => kinds.includes(kind)) ?? []
  return file
}
