/** Tokens, address and proxy of a tenant. */
import { Secrets } from '@reeve/kube'
import { secret, TENANT } from '../healthy-stage.ts'
import { instead, key, nothing, type PlantedFault, without } from './planted-fault.ts'

/** Nobody listens there. */
const CLOSED = '127.0.0.1:9'

/** Tokens, address and proxy of a tenant. */
export const TENANT_FAULTS: readonly PlantedFault[] = [
  {
    name: 'the token Secret is missing',
    plant: without(Secrets, key(TENANT)),
    check: 'dynakube',
    message: /Secret dynatrace\/abc12345 does not exist/,
    remedy: /create it with the key apiToken/,
  },
  {
    name: 'the token Secret has no apiToken',
    plant: instead(secret(TENANT, { paasToken: 'x' })),
    check: 'dynakube',
    message: /has no apiToken/,
    remedy: /add one/,
  },
  {
    name: 'the token ends with a line break',
    plant: instead(secret(TENANT, { apiToken: 'dt0c01.ABC.SECRET\n' })),
    check: 'dynakube',
    message: /apiToken begins or ends with white space/,
    remedy: /remove it/,
  },
  {
    name: 'the token was revoked',
    plant: instead(secret(TENANT, { apiToken: 'dt0c01.ABCDEFGHIJKLMNOPQRSTUVWX.NEVERISSUED' })),
    check: 'dynakube',
    message: /the tenant rejects apiToken: .*401/,
    remedy: /create a token in the tenant and write it to the key apiToken of the Secret dynatrace\/abc12345/,
  },
  {
    name: 'the token lacks a scope',
    plant: async ({ simulator }) => {
      const { tokens } = simulator.tenant(TENANT)
      const { scopes = [] } = tokens.get('apiToken') ?? {}
      tokens.setScopes(
        'apiToken',
        scopes.filter((scope) => scope !== 'activeGateTokenManagement.create'),
      )
      return () => tokens.setScopes('apiToken', scopes)
    },
    check: 'dynakube',
    message: /apiToken lacks activeGateTokenManagement\.create/,
    remedy: /add it, or use another token/,
  },
  {
    name: 'the token has quotes around it',
    plant: instead(secret(TENANT, { apiToken: '"dt0c01.NEVERISSUED.NEVERISSUED"' })),
    check: 'dynakube',
    message: /the tenant rejects apiToken/,
    remedy: /without quotes, prefix or base64/,
  },
  {
    name: 'nothing listens at the API URL',
    plant: (stage) => stage.editDynaKube({ apiUrl: `https://${CLOSED}/e/${TENANT}/api` }),
    check: 'dynakube',
    message: /the tenant cannot be used: .*ECONNREFUSED/,
    remedy: /check spec\.apiUrl/,
  },
  {
    name: 'the API URL does not end in /api',
    plant: (stage) => stage.editDynaKube({ apiUrl: stage.simulator.url(TENANT).replace(/\/api$/, '') }),
    check: 'dynakube',
    message: /the tenant cannot be used: spec\.apiUrl: ".*" is not a valid tenant URL/,
    remedy: /an apiUrl like https:\/\/.*\/api/,
  },
  {
    name: 'the tenant is in maintenance',
    plant: async ({ simulator }) => {
      const rule = simulator.faults.add({ kind: 'status', status: 503 })
      return () => rule.remove()
    },
    check: 'dynakube',
    message: /the tenant cannot be used: .*503/,
    remedy: /wait until the tenant, or what is in front of it, works again/,
  },
  {
    name: 'the certificate of the tenant is not trusted',
    plant: (stage) => stage.editDynaKube({ trustedCAs: '' }),
    check: 'dynakube',
    message: /the tenant cannot be used: .*certificate/i,
    remedy: /spec\.trustedCAs/,
  },
  {
    name: 'the Secret of the proxy is missing',
    plant: (stage) => stage.editDynaKube({ proxy: { valueFrom: 'absent' } }),
    check: 'dynakube.proxy',
    message: /absent/,
    remedy: /./,
  },
  {
    name: 'the proxy cannot be reached',
    plant: (stage) =>
      stage.editDynaKube({
        // Addresses of this machine are never reached through a proxy.
        apiUrl: `https://tenant.example.com/e/${TENANT}/api`,
        proxy: { value: `http://user:hunter22@${CLOSED}` },
      }),
    check: 'dynakube',
    message: /the proxy 127\.0\.0\.1:9 cannot be used/,
    remedy: /check its address/,
  },
  {
    name: 'the process environment has another proxy',
    plant: nothing,
    env: { HTTPS_PROXY: 'http://other:3128', NO_PROXY: '*' },
    check: 'dynakube.proxy',
    status: 'warning',
    message: /process environment has HTTPS_PROXY/,
    remedy: /spec\.proxy/,
  },
]
