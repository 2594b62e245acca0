/** Which packages may import which. Everything points down; nothing in packages knows an operator. */
import type { Import } from './import-graph.ts'

/** By folder: the packages that it may import. */
export type Layers = Readonly<Record<string, readonly string[]>>

const CLUSTER = ['http', 'kube', 'patterns']
const OUTSIDE = ['archives', 'oci']
const OPERATOR = ['cli', 'crd', 'runtime', ...CLUSTER]

/** The layers of this repository. */
const LAYERS: Layers = {
  'packages/archives': [],
  'packages/patterns': [],
  // A server that shared code with its clients could share their mistakes; patterns are a language, not a client.
  'packages/embedded-cluster': ['patterns'],
  'packages/http': [],
  'packages/kube': ['http'],
  'packages/oci': ['archives', 'http'],
  'packages/helm': ['http', 'kube', 'oci'],
  'packages/crd': CLUSTER,
  'packages/runtime': CLUSTER,
  // The command `reeve` runs clusters and explorations; the library of operators does not load them.
  'packages/cli': ['console', 'crd', 'embedded-cluster', 'plan', 'runtime', 'simulation', ...CLUSTER],
  'packages/console': ['plan', 'runtime', ...CLUSTER],
  // A plan is rehearsed on an embedded cluster.
  'packages/plan': ['embedded-cluster', 'runtime', ...CLUSTER],
  'packages/testing': ['embedded-cluster', 'runtime', ...CLUSTER],
  'packages/simulation': ['console', 'crd', 'embedded-cluster', 'runtime', ...CLUSTER],
  'operators/webapp': OPERATOR,
  'operators/collector': [...OPERATOR, 'helm'],
  // The page of its simulated tenant has the components of the console.
  'operators/dynatrace': [...OPERATOR, ...OUTSIDE, 'console', 'embedded-cluster', 'plan'],
}

/** A sentence for every import that the layers do not allow. */
export function layerProblems(imports: readonly Import[], layers: Layers = LAYERS): readonly string[] {
  return imports.flatMap(({ from, to }) => {
    const [folder = ''] = /^[^/]+\/[^/]+/.exec(from) ?? []
    const [, imported] = /^@reeve\/([^/]+)/.exec(to) ?? []
    const allowed = layers[folder]
    if (allowed === undefined) return [`${folder} has no layer: add it to package-layers.ts`]
    if (imported === undefined) return to.startsWith('.') || isInside(to, folder) ? [] : outside(from, to)
    return allowed.includes(imported) ? [] : [`${from} imports @reeve/${imported}, which ${folder} must not know`]
  })
}

function isInside(to: string, folder: string): boolean {
  return !/^(?:packages|operators|tools|bench)\//.test(to) || to.startsWith(`${folder}/`)
}

function outside(from: string, to: string): readonly string[] {
  return [`${from} imports ${to}: import the package by its name`]
}
