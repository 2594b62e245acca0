/** Namespaces whose pods are injected: their label, and the Secrets that init containers of their pods read. */
import { Namespaces, Secrets } from '@reeve/kube'
import type { DesiredObject } from '@reeve/runtime'
import { FIXED_NAMES } from '../../../../api/dynakube/names.ts'
import { changesPods } from '../../../../api/dynakube/namespace-claims.ts'
import {
  type AnyDynaKubeComponent,
  type DynaKubeComponent,
  RENDERS_NOTHING,
  runsNoPods,
} from '../../dynakube-component.ts'
import { exporters } from './exporters.ts'
import { injection } from './injection.ts'
import { INJECTION_CONDITIONS, reportInjection } from './injection-conditions.ts'
import { claimedNamespaces, copiesIn, labelled } from './namespace-objects.ts'

/** The names of namespaces. */
export interface InjectedNamespaces {
  readonly injectedNamespaces: readonly string[]
}

/** Labels namespaces with the DynaKube. While it is not known what to inject, no further namespace is labelled. */
export const namespaces: DynaKubeComponent<InjectedNamespaces> = {
  name: 'namespaces',
  needs: [injection],
  isEnabled: changesPods,
  isReady: runsNoPods,
  mayOwn: () => [{ resource: Namespaces }],
  resolve: ({ primary, dependencies, cache }) => ({
    injectedNamespaces: claimedNamespaces(primary, dependencies.ignoredNamespaces, cache),
  }),
  render: ({ primary, facts: { injectedNamespaces } }) =>
    injectedNamespaces.map((name) => labelled(name, primary.metadata.name)),
}

/** What is copied, and where to. */
export interface Copies extends InjectedNamespaces {
  readonly copiedSecrets: readonly DesiredObject[]
}

/** A component that copies the Secrets of another one into the namespaces of a DynaKube. */
function copiesOf(source: AnyDynaKubeComponent, names: readonly string[]): DynaKubeComponent<Copies> {
  return {
    name: `copies of ${source.name}`,
    needs: [source, namespaces],
    isEnabled: (dynakube, dependencies) => source.isEnabled?.(dynakube, dependencies) ?? true,
    isReady: runsNoPods,
    mayOwn: () => names.map((name) => ({ resource: Secrets, name })),
    resolve: ({ factsOf, outcomeOf }) => ({
      injectedNamespaces: factsOf(namespaces)?.injectedNamespaces ?? [],
      copiedSecrets: outcomeOf(source)?.objects.map(({ desired }) => desired) ?? [],
    }),
    render: ({ primary, facts: { injectedNamespaces, copiedSecrets } }) =>
      injectedNamespaces.flatMap((namespace) => copiesIn(namespace, primary, copiedSecrets)),
  }
}

/** Copies what pods are injected with. */
export const injectionCopies = copiesOf(injection, [FIXED_NAMES.bootstrapperConfig, FIXED_NAMES.bootstrapperCerts])

/** Copies the configuration of exporters. */
export const exporterCopies = copiesOf(exporters, [FIXED_NAMES.otlpExporterConfig, FIXED_NAMES.otlpExporterCerts])

const PARTS = [namespaces, injectionCopies, exporterCopies]

/** Reports the state of injection in conditions, once all of it was tried. */
export const injectionSummary: DynaKubeComponent = {
  name: 'injection summary',
  after: [...PARTS, injection, exporters],
  conditions: INJECTION_CONDITIONS,
  ...RENDERS_NOTHING,
  resolve({ reporter, cache, dependencies, outcomeOf }) {
    const isKnown = (component: AnyDynaKubeComponent) => {
      const { state } = outcomeOf(component) ?? {}
      return state !== 'failed' && state !== 'waiting'
    }
    const failure = PARTS.map((part) => outcomeOf(part))
      .filter((outcome) => outcome?.stage !== 'needs')
      .find((outcome) => outcome?.failure !== undefined)?.failure
    const known = { isInjectionKnown: isKnown(injection), areExportersKnown: isKnown(exporters) }
    const outcome = { ...known, ...(failure && { failure }) }
    reportInjection(reporter, outcome, { cache, patterns: dependencies.ignoredNamespaces })
    return undefined
  },
}
