/** Installs a CRD the way every scene needs it: there, and served. */
import type { CrdManifest } from '@reeve/crd'
import { sleep } from '@reeve/http'
import { type CustomResourceDefinition, CustomResourceDefinitions, type KubeClient } from '@reeve/kube'

/** Who owns what the demo applies. */
export const FIELD_MANAGER = 'reeve-demo'

/** Applies the CRD and resolves when it is served. */
export async function applyCrd(client: KubeClient, manifest: CrdManifest, signal: AbortSignal): Promise<void> {
  // The manifest is what the server accepts; the built-in type spells its schema out.
  const definition = manifest as unknown as CustomResourceDefinition
  await client.apply(CustomResourceDefinitions, definition, { fieldManager: FIELD_MANAGER, force: true, signal })
  for (;;) {
    const { status } = await client.get(CustomResourceDefinitions, { name: manifest.metadata.name ?? '' }, { signal })
    if (status?.conditions?.some(({ type, status: value }) => type === 'Established' && value === 'True')) return
    await sleep(100, { signal })
  }
}
