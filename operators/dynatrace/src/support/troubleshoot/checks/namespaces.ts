/** Which namespaces DynaKubes inject: none, or one that two of them select. */
import { isForbidden, Namespaces } from '@reeve/kube'
import { changesPods } from '../../../api/dynakube/namespace-claims.ts'
import { IgnoredNamespacePatterns } from '../../../api/ignored-namespaces.ts'
import type { DynaKube } from '../../../api/latest.ts'
import { instancesOf } from '../../../controllers/dynakube/components/injection/map-namespaces.ts'
import { bounded, FORBIDDEN_REMEDY, reporterOf, type TroubleshootContext } from '../context.ts'

const SELECTORS =
  'check its namespaceSelector, the labels of the namespaces, and the annotation feature.dynatrace.com/ignored-namespaces'

/** Checks the selectors, by the code of the operator. */
export async function checkNamespaces(context: TroubleshootContext, dynakubes: readonly DynaKube[]): Promise<void> {
  const injecting = dynakubes.filter(changesPods)
  if (injecting.length === 0) return
  const reporter = reporterOf(context, 'namespaces')
  reporter.start('checking which namespaces are injected ...')
  try {
    const { items } = await context.client.listAll(Namespaces, { metadataOnly: true, ...bounded(context) })
    const namespaces = items.map(({ metadata: { name, labels = {} } }) => ({ name, labels }))
    const instances = [...instancesOf(injecting, namespaces, new IgnoredNamespacePatterns()).values()]
    for (const { metadata } of injecting) {
      const count = instances.filter((instance) => instance === metadata.name).length
      const title = `the DynaKube ${metadata.namespace}/${metadata.name}`
      if (count > 0) reporter.ok(`${title} injects ${count} of ${namespaces.length} namespaces`)
      else reporter.warning(`${title} selects no namespace: no pod is injected`, SELECTORS)
    }
  } catch (error) {
    context.signal.throwIfAborted()
    if (isForbidden(error)) {
      reporter.warning('namespaces are not checked: this account may not list them', FORBIDDEN_REMEDY)
    } else reporter.failed('namespaces cannot be injected', error, SELECTORS)
  }
}
