/** The committed files that are derived from definitions in code. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { CollectorCrd, collectorWebhook } from '@reeve/collector'
import { type AnyCrd, crdYaml, type ManifestOptions } from '@reeve/crd'
import { CRDS, installation } from '@reeve/dynatrace'
import type { WebhookRoute } from '@reeve/runtime'
import { webhookRules } from '@reeve/runtime/operator'
import { WebAppCrd, webAppWebhooks } from '@reeve/webapp'
import { stringify } from 'yaml'

/** A derived file: its path from the root of the repository and the content it should have. */
export interface GeneratedFile {
  readonly path: string
  readonly content: string
}

const NOTICE = '# Made by `npm run generate` from the definition in code: change it there.\n'

/** Every derived file with the content it should have. */
export function generatedFiles(): readonly GeneratedFile[] {
  return [
    crdFile('operators/webapp/chart/crds', WebAppCrd),
    webhookFile('operators/webapp/chart/files', webAppWebhooks()),
    crdFile('operators/collector/chart/crds', CollectorCrd),
    // Which Collectors it rejects depends on settings; which requests it receives does not.
    webhookFile('operators/collector/chart/files', [collectorWebhook({ tenancy: {} }, async () => undefined)]),
    // Not in `chart/crds`, which Helm never upgrades: a chart template reads them from here.
    ...CRDS.map((crd) => crdFile('operators/dynatrace/chart/files/crds', crd, installation())),
  ]
}

/** The paths of files that differ from the committed content. */
export async function staleFiles(): Promise<readonly string[]> {
  const stale: string[] = []
  for (const { path, content } of generatedFiles()) {
    if ((await contentOf(path)) !== content) stale.push(path)
  }
  return stale
}

/** The absolute path of a path in the repository. */
export function absolutePath(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url))
}

function crdFile(folder: string, crd: AnyCrd, options?: ManifestOptions): GeneratedFile {
  return { path: `${folder}/${crd.name}.yaml`, content: NOTICE + crdYaml(crd, options) }
}

/** The part of webhook configurations that follows from code; a chart template adds the rest. */
function webhookFile(folder: string, routes: readonly WebhookRoute[]): GeneratedFile {
  const [mutating, validating] = [webhookRules(routes, 'mutating'), webhookRules(routes, 'validating')]
  const byKind = {
    ...(mutating.length > 0 && { MutatingWebhookConfiguration: mutating }),
    ...(validating.length > 0 && { ValidatingWebhookConfiguration: validating }),
  }
  return { path: `${folder}/webhooks.yaml`, content: NOTICE + stringify(byKind, { aliasDuplicateObjects: false }) }
}

async function contentOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(absolutePath(path), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
