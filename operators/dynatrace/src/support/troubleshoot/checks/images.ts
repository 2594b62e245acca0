/** Whether the images of a DynaKube can be pulled with its pull secrets, proxy and certificates. */
import type { Stored } from '@reeve/kube'
import { createRegistryClient, type RegistryClient } from '@reeve/oci'
import { hasActiveGate } from '../../../api/dynakube/active-gate-facts.ts'
import { customCodeModulesImage } from '../../../api/dynakube/feature-facts.ts'
import { customOneAgentImage, needsOneAgentDaemonSet } from '../../../api/dynakube/one-agent-facts.ts'
import { hasProxy } from '../../../api/dynakube/proxy.ts'
import type { DynaKube } from '../../../api/latest.ts'
import { registryAccess } from '../../../csi/provisioner/install/dynakube-access.ts'
import { REQUEST_TIMEOUT_MS, reporterOf, type TroubleshootContext } from '../context.ts'
import type { CheckReporter } from '../finding.ts'

interface NamedImage {
  readonly component: string
  readonly image: string
  readonly isCustom: boolean
  /** A DynaKube may do without. */
  readonly isOptional?: boolean
}

/** Checks the images, each by its manifest; no layer is read. */
export async function checkImages(context: TroubleshootContext, dynakube: Stored<DynaKube>): Promise<void> {
  const images = imagesOf(dynakube, context.modules.csiDriver)
  if (images.length === 0) return
  const { client, logger, signal, env } = context
  const reporter = reporterOf(context, 'dynakube.imagepull')
  reporter.start('checking if images can be pulled ...')
  try {
    const access = await registryAccess({ dynakube, client, logger, signal })
    await using registry = createRegistryClient({ ...access, env })
    for (const image of images) await checkImage(context, reporter, registry, dynakube, image)
  } catch (error) {
    signal.throwIfAborted()
    reporter.failed('images cannot be pulled', error, 'correct the pull secret, spec.proxy or spec.trustedCAs')
  }
}

async function checkImage(
  context: TroubleshootContext,
  reporter: CheckReporter,
  registry: RegistryClient,
  dynakube: DynaKube,
  { component, image, isCustom, isOptional = false }: NamedImage,
): Promise<void> {
  const title = isCustom ? `${component} (custom image)` : component
  if (image === '') {
    if (isOptional) reporter.info(`no image is configured for ${title}`)
    else reporter.error(`the image of ${title} is not known yet`, 'check that the operator runs and reaches the tenant')
    return
  }
  try {
    const { signal } = context
    await registry.digest(image, { signal, timeoutMs: REQUEST_TIMEOUT_MS })
    reporter.ok(`the image of ${title} can be pulled: ${image}`)
  } catch (error) {
    context.signal.throwIfAborted()
    const remedy = hasProxy(dynakube)
      ? 'check the name of the image, the pull secret, spec.trustedCAs, and that the proxy lets the registry through'
      : 'check the name of the image, the pull secret, spec.trustedCAs, and that the registry can be reached'
    reporter.error(`the image of ${title} cannot be pulled: ${image}: ${messageOf(error)}`, remedy)
  }
}

function imagesOf(dynakube: DynaKube, hasCsiDriver: boolean): readonly NamedImage[] {
  const { spec, status } = dynakube
  const custom = {
    oneAgent: customOneAgentImage(dynakube),
    codeModules: customCodeModulesImage(dynakube, hasCsiDriver),
    activeGate: spec.activeGate?.image ?? '',
  }
  const named = (component: string, own: string, known: string | undefined): NamedImage => ({
    component,
    image: own || known || '',
    isCustom: own !== '',
  })
  return [
    ...(needsOneAgentDaemonSet(dynakube)
      ? [
          named('OneAgent', custom.oneAgent, status?.oneAgent?.imageID),
          { ...named('OneAgentCodeModules', custom.codeModules, status?.codeModules?.imageID), isOptional: true },
        ]
      : []),
    ...(hasActiveGate(dynakube) ? [named('ActiveGate', custom.activeGate, status?.activeGate?.imageID)] : []),
  ]
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
