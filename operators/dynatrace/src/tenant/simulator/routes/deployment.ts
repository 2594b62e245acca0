/** Connection info, versions, images and process-module configuration: what an operator needs to deploy agents. */
import { empty, json } from '../http/response.ts'
import type { Route } from '../http/router.ts'
import { violation } from '../refusal.ts'
import type { ImageName } from '../state/versions.ts'
import { tenantRoute } from './authenticate.ts'
import { readInstaller } from './installer-parameters.ts'

const scopes = ['InstallerDownload']

/** @param registryHost of the images that a tenant recommends by default */
export function deploymentRoutes(registryHost: () => string): readonly Route[] {
  return [
    tenantRoute({
      operation: 'agent-connection-info',
      method: 'GET',
      path: '/v1/deployment/installer/agent/connectioninfo',
      scopes,
      handle({ connectionInfo }, { query }) {
        const zone = query.get('networkZone') ?? ''
        return json(200, connectionInfo.forAgents(zone, query.get('defaultZoneFallback') === 'true'))
      },
    }),
    tenantRoute({
      operation: 'gateway-connection-info',
      method: 'GET',
      path: '/v1/deployment/installer/gateway/connectioninfo',
      scopes,
      handle: ({ connectionInfo }) => json(200, connectionInfo.forGateways()),
    }),
    tenantRoute({
      operation: 'process-module-config',
      method: 'GET',
      path: '/v1/deployment/installer/agent/processmoduleconfig',
      scopes,
      handle({ processModuleConfig }, { query }) {
        const revision = query.get('revision') ?? '0'
        if (!/^\d+$/.test(revision)) throw violation('QUERY', 'revision', 'must be a whole number')
        const sections = (query.get('sections') ?? '').split(',').filter((section) => section !== '')
        const config = processModuleConfig.get(Number(revision), sections, query.get('hostgroup') ?? '')
        return config === undefined ? empty(304) : json(200, config)
      },
    }),
    tenantRoute({
      operation: 'agent-versions',
      method: 'GET',
      path: '/v1/deployment/installer/agent/versions/:os/:type',
      scopes,
      handle({ versions }, { query }, parameters) {
        readInstaller(parameters, query)
        return json(200, { availableVersions: versions.available() })
      },
    }),
    tenantRoute({
      operation: 'agent-latest-version',
      method: 'GET',
      path: '/v1/deployment/installer/agent/:os/:type/latest/metainfo',
      scopes,
      handle({ versions }, { query }, parameters) {
        readInstaller(parameters, query)
        return json(200, { latestAgentVersion: versions.agent })
      },
    }),
    tenantRoute({
      operation: 'gateway-latest-version',
      method: 'GET',
      path: '/v1/deployment/installer/gateway/:os/latest/metainfo',
      scopes,
      handle({ versions }, _call, { os = '' }) {
        if (os !== 'unix' && os !== 'windows') throw violation('PATH', 'osType', 'must be unix or windows')
        return json(200, { latestGatewayVersion: versions.gateway })
      },
    }),
    ...IMAGES.map(({ name, path, repository }) =>
      tenantRoute({
        operation: 'latest-image',
        method: 'GET',
        path: `/v1/deployment/image/${path}/latest`,
        scopes,
        handle({ versions }) {
          const tag = name === 'gateway' ? versions.gateway : versions.agent
          return json(200, versions.image(name) ?? { source: `${registryHost()}/${repository}`, tag })
        },
      }),
    ),
    tenantRoute({
      operation: 'active-gate-token',
      method: 'POST',
      path: '/v2/activeGateTokens',
      scopes: ['activeGateTokenManagement.create'],
      handle: async ({ activeGateTokens }, call) => json(201, activeGateTokens.issue(await call.jsonObject())),
    }),
  ]
}

const IMAGES: readonly { readonly name: ImageName; readonly path: string; readonly repository: string }[] = [
  { name: 'oneAgent', path: 'agent/oneAgent', repository: 'dynatrace/dynatrace-oneagent' },
  { name: 'codeModules', path: 'agent/codeModules', repository: 'dynatrace/dynatrace-codemodules' },
  { name: 'gateway', path: 'gateway', repository: 'dynatrace/dynatrace-activegate' },
]
