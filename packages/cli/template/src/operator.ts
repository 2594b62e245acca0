/** The operator: which objects a Sprocket becomes, and what its status says. */
import { crdManifest } from '@reeve/crd'
import { ConfigMaps } from '@reeve/kube'
import { type DesiredObject, defineOperator, desired, setCondition } from '@reeve/runtime'
import { type Sprocket, SprocketCrd, SprocketResource } from './sprocket.ts'
// webhooks:begin
import { webhooks } from './webhooks.ts'

// webhooks:end

const NAME = 'sprocket-operator'
const labels = { 'app.kubernetes.io/managed-by': NAME }

/** The objects that should exist. What is no longer in this list is deleted. */
export function render({ metadata, spec }: Sprocket): readonly DesiredObject[] {
  if (!spec.isPublic) return []
  const { name, namespace } = metadata
  return [desired(ConfigMaps, { metadata: { name, namespace, labels }, data: { message: spec.message } })]
}

export const operator = defineOperator({
  name: NAME,
  crds: [crdManifest(SprocketCrd)],
  controllers: [
    {
      for: SprocketResource,
      // Never all ConfigMaps of a cluster.
      owns: [{ resource: ConfigMaps, labelSelector: `app.kubernetes.io/managed-by=${NAME}` }],
      render,
      // Runs after each reconcile, also after one that failed. The status is written only when it differs.
      report: ({ primary: { metadata, status }, failure, clock }) => ({
        status: {
          observedGeneration: metadata.generation,
          conditions: setCondition(
            status?.conditions,
            {
              type: 'Ready',
              status: failure ? 'False' : 'True',
              reason: failure ? 'Failed' : 'Applied',
              message: failure?.message ?? '',
              observedGeneration: metadata.generation,
            },
            clock,
          ),
        },
      }),
    },
  ],
  // webhooks:begin
  webhooks,
  // webhooks:end
})
