/** `npm run generate`: writes the files of the chart that follow from the definition of the operator. */
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { withoutConversion } from '@reeve/runtime/operator'
import { stringify } from 'yaml'
import { operator as definition } from '../src/operator.ts'

type Definition = Pick<typeof definition, 'name' | 'crds' | 'rbac' | 'webhookConfigurations'>

/** By path: what the chart must contain. */
export function generated(operator: Definition = definition): Readonly<Record<string, unknown>> {
  const crds = operator.crds({ service: { namespace: 'NAMESPACE', name: operator.name } })
  const { clusterRole, roles } = operator.rbac({
    // Helm installs the CRD in chart/crds once, and never upgrades it.
    upgradesCrds: true,
    // webhooks:begin
    webhook: { secret: `${operator.name}-certificate`, configurations: [operator.name] },
    // webhooks:end
  })
  // webhooks:begin
  const location = { service: { namespace: 'NAMESPACE', name: operator.name } }
  const { mutating, validating } = operator.webhookConfigurations({ location })
  // webhooks:end
  return {
    // As it is without the operator, which adds the conversion between versions when it starts.
    'chart/crds/sprockets.yaml': crds.map(withoutConversion)[0],
    'chart/files/rules.yaml': {
      cluster: clusterRole.rules,
      namespaced: roles[0]?.rules,
      // webhooks:begin
      // For the Job that takes the conversion away before an uninstall.
      detach: crds.flatMap(({ metadata, spec }) =>
        spec.conversion?.strategy === 'Webhook'
          ? [
              {
                apiGroups: ['apiextensions.k8s.io'],
                resources: ['customresourcedefinitions'],
                verbs: ['get', 'patch'],
                resourceNames: [metadata.name],
              },
              { apiGroups: [spec.group], resources: [spec.names.plural], verbs: ['list', 'update'] },
            ]
          : [],
      ),
      // webhooks:end
    },
    // webhooks:begin
    'chart/files/webhooks.yaml': { mutating: mutating?.webhooks ?? [], validating: validating?.webhooks ?? [] },
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
