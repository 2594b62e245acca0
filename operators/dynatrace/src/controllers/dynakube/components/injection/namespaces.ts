/** Namespaces whose pods get injected: labelled, and given what the init containers of their pods read. */
import { Namespaces, Secrets } from '@reeve/kube'
import { FIXED_NAMES } from '../../../../api/dynakube/names.ts'
import { changesPods } from '../../../../api/dynakube/namespace-claims.ts'
import type { Component } from '../../component.ts'
import { clusterPassOf, type DynaKubeComponent, type EngineComponents } from '../../engine-component.ts'
import { exporters } from './exporter-secrets.ts'
import { reportInjection } from './injection-conditions.ts'
import { claimedNamespaces, copiesIn, labelled } from './namespace-objects.ts'
import { injection } from './source-secrets.ts'

/** Names the DynaKube on its namespaces. While it is not known what pods get, no further namespace is promised any. */
function labels(engine: EngineComponents): DynaKubeComponent {
  return {
    name: 'namespaces',
    needs: [engine.of(injection)],
    isEnabled: changesPods,
    mayOwn: () => [{ resource: Namespaces }],
    resolve: ({ primary, dependencies, cache }) => ({
      injectedNamespaces: claimedNamespaces(primary, dependencies.ignoredNamespaces, cache),
    }),
    render: ({ primary, facts: { injectedNamespaces = [] } }) =>
      injectedNamespaces.map((name) => labelled(name, primary.metadata.name)),
    isReady: () => true,
  }
}

/** Copies the Secrets of a component into the namespaces of a DynaKube. */
function copies(
  source: Component,
  names: readonly string[],
  engine: EngineComponents,
  namespaces: DynaKubeComponent,
): DynaKubeComponent {
  return {
    name: `copies of ${source.name}`,
    needs: [engine.of(source), namespaces],
    isEnabled: (dynakube) => source.isEnabled?.(dynakube) ?? true,
    mayOwn: () => names.map((name) => ({ resource: Secrets, name })),
    resolve: ({ factsOf, outcomeOf }) => ({
      injectedNamespaces: factsOf(namespaces)?.injectedNamespaces ?? [],
      copiedSecrets: outcomeOf(engine.of(source))?.objects.map(({ desired }) => desired) ?? [],
    }),
    render: ({ primary, facts: { injectedNamespaces = [], copiedSecrets = [] } }) =>
      injectedNamespaces.flatMap((namespace) => copiesIn(namespace, primary, copiedSecrets)),
    isReady: () => true,
  }
}

/** Tells in conditions what became of injection, once all of it was tried. */
function summary(engine: EngineComponents, parts: readonly DynaKubeComponent[]): DynaKubeComponent {
  return {
    name: 'injection summary',
    after: [...parts, engine.of(injection), engine.of(exporters)],
    mayOwn: () => [],
    resolve(context) {
      const isUnknown = (component: Component) => {
        const { state } = context.outcomeOf(engine.of(component)) ?? {}
        return state === 'failed' || state === 'waiting'
      }
      const failures = parts.flatMap((part) => {
        const { failure, stage } = context.outcomeOf(part) ?? {}
        return failure === undefined || stage === 'needs' ? [] : [failure]
      })
      const { draft } = clusterPassOf(context)
      reportInjection(draft, { failures, unknown: [injection, exporters].filter(isUnknown) }, context.cache)
      return {}
    },
    isReady: () => true,
  }
}

/**
 * Everything about namespaces.
 *
 * @example
 * const components = [tenant, ...COMPONENTS.map((component) => engine.of(component)), ...namespaceComponents(engine)]
 */
export function namespaceComponents(engine: EngineComponents): readonly DynaKubeComponent[] {
  const namespaces = labels(engine)
  const { bootstrapperConfig, bootstrapperCerts, otlpExporterConfig, otlpExporterCerts } = FIXED_NAMES
  const parts = [
    namespaces,
    copies(injection, [bootstrapperConfig, bootstrapperCerts], engine, namespaces),
    copies(exporters, [otlpExporterConfig, otlpExporterCerts], engine, namespaces),
  ]
  return [...parts, summary(engine, parts)]
}
