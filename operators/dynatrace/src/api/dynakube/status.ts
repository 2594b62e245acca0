/** What the operator reports about a DynaKube. */
import { openObject } from '@reeve/crd'
import { type TProperties, Type } from 'typebox'
import { conditions, plainConditions } from '../fields/condition.ts'
import { flag, group, int32, list, text, textList, time, versionStatus, versionStatusFields } from '../fields/fields.ts'

const connection = {
  tenantUUID: text('The tenant.'),
  endpoints: text('Where agents and gateways connect to.'),
  tenantTokenHash: text('Changes when the token of the tenant does.'),
  lastRequest: time('No longer written.'),
}

const ruleFields = {
  type: text('LABEL or ANNOTATION.'),
  source: text('The label or annotation of the namespace that is read.'),
  target: text('The attribute that telemetry gets.'),
}

const oneAgent = group(
  {
    ...versionStatusFields,
    connectionInfoStatus: group(
      {
        ...connection,
        communicationHosts: list(
          Type.Object({
            protocol: text('Such as https.'),
            host: text('Name or address.'),
            port: int32('The port.'),
          }),
          'The endpoints one by one.',
        ),
      },
      'How agents reach the tenant.',
    ),
    instances: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object({ podName: text('The pod of the agent.'), ipAddress: text('Address of the node.') }),
        { description: 'The agents, by node.' },
      ),
    ),
    lastInstanceStatusUpdate: time('When instances was last updated.'),
    healthcheck: Type.Optional(
      openObject({ description: "The health check of the agent's image; becomes its probes." }),
    ),
  },
  'The OneAgent.',
)

const fields = {
  phase: text('Running, Deploying or Error.'),
  updatedTimestamp: time('When this status was last written.'),
  kubeSystemUUID: text('Identifies the cluster: the UID of its namespace kube-system.'),
  kubernetesClusterMEID: text('The cluster in the tenant: its monitored entity.'),
  kubernetesClusterName: text('The name of the cluster in the tenant.'),
  dynatraceApi: group(
    { lastTokenScopeRequest: time('When the scopes of the tokens were last looked up.') },
    'Calls to the API of the tenant.',
  ),
  oneAgent,
  activeGate: group(
    {
      ...versionStatusFields,
      connectionInfoStatus: group(connection, 'How gateways reach the tenant.'),
      serviceIPs: textList('Addresses of the Service of the gateways.'),
    },
    'The ActiveGate.',
  ),
  codeModules: versionStatus('the code modules'),
  kspm: group({ tokenSecretHash: text('Changes when the shared token does.') }, 'Security posture management.'),
}

const proxyURLHash = { proxyURLHash: text('Changes when the address of the proxy does.') }

const enrichment = <T extends TProperties>(rule: T) =>
  group(
    { rules: list(Type.Object(rule), 'Rules of the tenant that say what is added to telemetry.') },
    'Metadata enrichment.',
  )

const DESCRIPTION = { description: 'What the operator observed.' }
const oldRules = enrichment({ ...ruleFields, enabled: flag('Whether the rule applies; no longer known.') })

/** As in v1beta6: at most one condition per type. */
export const status = Type.Object(
  { ...fields, ...proxyURLHash, metadataEnrichment: enrichment(ruleFields), conditions: conditions() },
  DESCRIPTION,
)

/** As in v1beta5. */
export const statusWithPlainConditions = Type.Object(
  { ...fields, ...proxyURLHash, metadataEnrichment: enrichment(ruleFields), conditions: plainConditions() },
  DESCRIPTION,
)

/** As in v1beta3 and v1beta4. */
export const statusWithRuleSwitch = Type.Object(
  { ...fields, metadataEnrichment: oldRules, conditions: plainConditions() },
  DESCRIPTION,
)
