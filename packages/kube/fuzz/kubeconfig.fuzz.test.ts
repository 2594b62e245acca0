/** Fuzzes kubeconfig files: parsing, merging and the choice of a context. */
import { attemptAsync, filesIn, fuzz, jsonOf, jsonValue, textOf } from '@reeve/fuzz'
import { systemClock } from '@reeve/http'
import fc from 'fast-check'
import { parseKubeconfig } from '../src/config/kubeconfig-document.ts'
import { mergeKubeconfigs } from '../src/config/kubeconfig-merge.ts'
import { resolveContext } from '../src/config/resolve-context.ts'
import { KubeError } from '../src/errors.ts'

const name = fc.constantFrom('a', 'b', '__proto__', '')
const text = fc.oneof(
  name,
  fc.string({ maxLength: 10 }),
  fc.constantFrom('https://127.0.0.1:6443', 'aGk=', '/file', './f'),
)
const members = (...names: readonly string[]) =>
  fc.record(Object.fromEntries(names.map((one) => [one, text])), { requiredKeys: [] })
const named = (member: string, value: fc.Arbitrary<unknown>) =>
  fc.array(fc.record({ name, [member]: fc.oneof(value, jsonValue) }), { maxLength: 3 })
const exec = fc.record(
  {
    apiVersion: fc.constant('client.authentication.k8s.io/v1'),
    command: text,
    args: fc.array(text, { maxLength: 2 }),
    env: fc.array(fc.record({ name, value: text }), { maxLength: 2 }),
  },
  { requiredKeys: ['apiVersion'] },
)

fuzz('kubeconfig', {
  inputs: jsonOf({
    'current-context': name,
    clusters: named('cluster', members('server', 'certificate-authority-data', 'proxy-url', 'tls-server-name')),
    users: named(
      'user',
      fc.oneof(members('token', 'tokenFile', 'username', 'password', 'as', 'client-key-data'), fc.record({ exec })),
    ),
    contexts: named('context', fc.record({ cluster: name, user: name }, { requiredKeys: [] })),
  }),
  dictionary: [
    'current-context',
    'clusters',
    'users',
    'contexts',
    'exec',
    '- ',
    ': ',
    '&a ',
    '*a',
    '!!binary ',
    '<<: ',
    '\n',
    '  ',
    '|',
    '>-',
  ],
  isJson: true,
  seeds: filesIn(new URL('./corpus/kubeconfig/', import.meta.url)),
  async run(input) {
    await attemptAsync(async () => {
      const config = await parseKubeconfig(textOf(input), '/home/user/.kube/config')
      const merged = mergeKubeconfigs([config, config])
      resolveContext(merged, { clock: systemClock, env: {} })
    }, KubeError)
  },
})
