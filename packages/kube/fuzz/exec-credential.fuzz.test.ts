/** Fuzzes what exec plugins print. */
import { attempt, fuzz, jsonOf, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { parseExecCredential } from '../src/config/exec-credential.ts'
import type { KubeconfigExec } from '../src/config/kubeconfig-document.ts'
import { CredentialsError } from '../src/errors.ts'

const apiVersion = 'client.authentication.k8s.io/v1'
const plugin: KubeconfigExec = {
  apiVersion,
  command: 'login',
  args: [],
  env: {},
  installHint: undefined,
  interactiveMode: undefined,
  provideClusterInfo: false,
  where: 'config: users[dev].user.exec',
}
const text = fc.oneof(fc.string({ maxLength: 10 }), fc.constantFrom('2030-01-01T00:00:00Z', 'token', '\n'))
const status = fc.record(
  { token: text, clientCertificateData: text, clientKeyData: text, expirationTimestamp: text },
  { requiredKeys: [] },
)

fuzz('exec-credential', {
  inputs: jsonOf({ apiVersion: fc.constant(apiVersion), kind: fc.constant('ExecCredential'), status }),
  isJson: true,
  run(input) {
    attempt(() => parseExecCredential(textOf(input), plugin), CredentialsError)
  },
})
