/** Rules on the name of a DynaKube, its selectors and its images. */

import { selectorExcess, selectorProblems } from '../../core/label-selector-problems.ts'
import { hasExtensions, hasKspm, hasTelemetryIngest } from '../../dynakube/feature-facts.ts'
import { customOneAgentImage, injectionNamespaceSelector } from '../../dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../latest.ts'
import { mayBeImage } from '../image-reference.ts'
import type { Finding, Rule } from '../rule.ts'

/** The names that Services may have. */
const DNS_1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?'
const DNS_1035 = new RegExp(`^${DNS_1035_LABEL}$`)

/** Whether a Service may have this name. */
export const isServiceName = (name: string): boolean => name.length <= 63 && DNS_1035.test(name)

/** The rule in the words of Kubernetes. */
export const SERVICE_NAME_RULE = `must consist of lower case alphanumeric characters or '-', start with a letter and end with an alphanumeric character (a DNS-1035 label, regex ${DNS_1035_LABEL})`

const LIMITS = [
  { limit: 40, why: 'names of pods are derived from it', applies: () => true },
  { limit: 32, why: 'the extension controller is named after it', applies: hasExtensions },
  { limit: 38, why: 'the OpenTelemetry collector is named after it', applies: hasTelemetryIngest },
  { limit: 35, why: 'the node configuration collector is named after it', applies: hasKspm },
] as const

/** The name is short enough for the names that are derived from it. */
export const nameRule: Rule<DynaKube> = { id: 'DK-NAME', check: checkName }

function checkName(dynakube: DynaKube): Finding {
  const { name = '' } = dynakube.metadata
  if (name === '') return undefined
  const applicable = LIMITS.filter(({ applies }) => applies(dynakube))
  const limit = Math.min(...applicable.map((each) => each.limit))
  if (name.length > limit) {
    return `metadata.name has ${name.length} characters and may have ${limit}, as ${applicable.at(-1)?.why}; choose a shorter one`
  }
  return DNS_1035.test(name) ? undefined : `metadata.name is "${name}", but ${SERVICE_NAME_RULE}; choose another one`
}

/** The labels of the selector of injected namespaces are valid. */
export const namespaceSelectorRule: Rule<DynaKube> = {
  id: 'DK-NS-LABELS',
  check: (dynakube) => {
    const problems = selectorProblems(injectionNamespaceSelector(dynakube) ?? {}, 'spec.namespaceSelector')
    return problems.length === 0
      ? undefined
      : `the namespaceSelector of spec.oneAgent is invalid: ${problems.join('; ')}`
  },
}

/** Selectors of other features are not checked for their labels, but for their size: all are evaluated. */
export const selectorSizeRule: Rule<DynaKube> = {
  id: 'DK-NS-SIZE',
  check: ({ spec }) =>
    selectorExcess(spec.metadataEnrichment?.namespaceSelector ?? {}, 'spec.metadataEnrichment.namespaceSelector') ??
    selectorExcess(
      spec.otlpExporterConfiguration?.namespaceSelector ?? {},
      'spec.otlpExporterConfiguration.namespaceSelector',
    ),
}

/** Patterns that would keep the webhook or the operator busy are rejected before anything is compiled. */
export const ignoredNamespacesRule: Rule<DynaKube> = {
  id: 'DK-IGNORED-NS',
  check: (dynakube, { ignoredNamespaces }) => ignoredNamespaces.of(dynakube).excess,
}

/** Images of the user can be image references. */
export const imageRule: Rule<DynaKube> = {
  id: 'DK-IMAGE',
  check: (dynakube) => {
    const images = [
      ['ActiveGate', 'spec.activeGate.image', dynakube.spec.activeGate?.image ?? ''],
      ['OneAgent', 'the image of spec.oneAgent', customOneAgentImage(dynakube)],
    ] as const
    const findings = images
      .filter(([, , image]) => image !== '' && !mayBeImage(image))
      .map(
        ([component, field, image]) =>
          `${field} (${component}) is "${image}", which is not an image reference; write registry/repository:tag`,
      )
    return findings.length === 0 ? undefined : findings.join(';')
  },
}
