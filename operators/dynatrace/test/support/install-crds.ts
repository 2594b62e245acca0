/** The CRDs on a cluster that several suites share: they stay, because other suites may still need them. */
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  isAlreadyExists,
  type KubeClient,
  type WebhookClientConfig,
} from '@reeve/kube'
import { CONVERT_PATH, crdManifests } from '../../src/index.ts'
import { until } from './until.ts'

/** Installs the CRDs unless they exist. Tests that use only the stored versions need no conversion. */
export async function installCrds(client: KubeClient): Promise<void> {
  for (const definition of definitions()) {
    try {
      await client.create(CustomResourceDefinitions, definition)
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
    await untilServed(client, definition)
  }
}

/** Installs the CRDs and has objects converted at this address, replacing any earlier one. */
export async function installConvertedCrds(
  client: KubeClient,
  clientConfigFor: (path: string) => WebhookClientConfig,
): Promise<void> {
  for (const definition of definitions()) {
    const conversion = {
      strategy: 'Webhook' as const,
      webhook: { conversionReviewVersions: ['v1', 'v1beta1'], clientConfig: clientConfigFor(CONVERT_PATH) },
    }
    const applied = { ...definition, spec: { ...definition.spec, conversion } }
    await client.apply(CustomResourceDefinitions, applied, { force: true })
    await untilServed(client, definition)
  }
}

function definitions(): readonly CustomResourceDefinition[] {
  // The manifests of `@reeve/crd` keep their spec open; the cluster checks it.
  return crdManifests() as unknown as readonly CustomResourceDefinition[]
}

async function untilServed(client: KubeClient, { metadata: { name = '' } }: CustomResourceDefinition): Promise<void> {
  await until(`${name} to be served`, async () => {
    const { status } = await client.get(CustomResourceDefinitions, { name })
    return status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') ?? false
  })
}
