/** Parts of Deployments with the lists that patches and apply merge by key. */
import fc, { type Arbitrary } from 'fast-check'

const name = fc.constantFrom('a', 'b', 'web', '__proto__', '')
const port = fc.record(
  { containerPort: fc.constantFrom(80, 443, 0), protocol: fc.constantFrom('TCP', 'UDP'), name },
  { requiredKeys: ['containerPort'] },
)
const variable = fc.record({ name, value: fc.string({ maxLength: 4 }) }, { requiredKeys: ['name'] })
const container = fc.record(
  {
    name,
    image: fc.constantFrom('nginx', ''),
    ports: fc.array(port, { maxLength: 3 }),
    env: fc.array(variable, { maxLength: 3 }),
    args: fc.array(name, { maxLength: 3 }),
    resources: fc.constantFrom({ limits: { cpu: '1' } }, {}),
  },
  { requiredKeys: ['name'] },
)

/** The `spec` of a Deployment, complete or not. */
export const deploymentSpec: Arbitrary<Record<string, unknown>> = fc.record(
  {
    replicas: fc.constantFrom(1, 0, -1),
    selector: fc.constant({ matchLabels: { app: 'web' } }),
    template: fc.record(
      {
        metadata: fc.constant({ labels: { app: 'web' } }),
        spec: fc.record(
          {
            containers: fc.array(container, { maxLength: 3 }),
            volumes: fc.array(fc.record({ name, emptyDir: fc.constant({}) }), { maxLength: 2 }),
            tolerations: fc.array(fc.record({ key: name, operator: fc.constant('Exists') }), { maxLength: 2 }),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    ),
    strategy: fc.constantFrom({ type: 'Recreate' }, { rollingUpdate: { maxSurge: '25%' } }),
  },
  { requiredKeys: [] },
)
