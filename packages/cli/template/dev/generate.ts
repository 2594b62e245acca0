/** `npm run generate`: writes the files of the chart that follow from the definition of the operator. */
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { operator } from '../src/operator.ts'

/** By path: what the chart must contain. */
export function generated(): Readonly<Record<string, unknown>> {
  const { clusterRole, roles } = operator.rbac({
    // Helm installs the CRD in chart/crds once, and never upgrades it.
    upgradesCrds: true,
    // webhooks:begin
    webhook: { secret: `${operator.name}-certificate`, configurations: [operator.name] },
    // webhooks:end
  })
  return {
    'chart/crds/sprockets.yaml': operator.crds()[0],
    'chart/files/rules.yaml': { cluster: clusterRole.rules, namespaced: roles[0]?.rules },
    // webhooks:begin
    'chart/files/webhooks.yaml': {
      validating: operator.webhookConfigurations({
        location: { service: { namespace: 'NAMESPACE', name: operator.name } },
      }).validating?.webhooks,
    },
    // webhooks:end
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, content] of Object.entries(generated())) {
    const text = stringify(content, { lineWidth: 0, aliasDuplicateObjects: false })
    await writeFile(new URL(`../${path}`, import.meta.url), text)
    console.log(path)
  }
}
