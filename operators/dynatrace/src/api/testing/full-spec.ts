/** A DynaKube with every feature, for tests of rendering. */
import type { DynaKubeSpec } from '../latest.ts'

const image = (name: string) => ({ repository: `registry.example.com/${name}`, tag: '1.2.3' })

/** Images of everything whose image the tenant does not provide. */
export const EXAMPLE_TEMPLATES = {
  otelCollector: { imageRef: image('otelc') },
  extensionExecutionController: { imageRef: image('eec') },
  sqlExtensionExecutor: { imageRef: image('sql') },
  kspmNodeConfigurationCollector: { imageRef: image('ncc') },
  logMonitoring: { imageRef: image('logs') },
} satisfies DynaKubeSpec['templates']

/** Every feature in its simplest form. */
export const FULL_SPEC = {
  oneAgent: { cloudNativeFullStack: {} },
  activeGate: { capabilities: ['routing', 'kubernetes-monitoring'] },
  extensions: { prometheus: {} },
  telemetryIngest: {},
  kspm: { mappedHostPaths: ['/etc'] },
  logMonitoring: {},
  templates: EXAMPLE_TEMPLATES,
} satisfies Partial<DynaKubeSpec>
