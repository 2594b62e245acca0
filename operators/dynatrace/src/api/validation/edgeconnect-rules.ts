/** All rules for EdgeConnects, in the order of their messages. */
import { isBareHost, parseUrl } from '@reeve/http/url-reference'
import { hasKubernetesAutomation, isProvisioner, serviceAccountName } from '../edgeconnect/edgeconnect-facts.ts'
import type { EdgeConnect } from '../latest.ts'
import type { Rule } from './rule.ts'
import { notInstalled } from './rules/modules.ts'

const SUFFIXES = ['.dev.apps.dynatracelabs.com', '.sprint.apps.dynatracelabs.com', '.apps.dynatrace.com']
const MAX_NAME_LENGTH = 40

/** Rules whose findings deny an EdgeConnect. */
export const EDGECONNECT_RULES: readonly Rule<EdgeConnect>[] = [
  {
    id: 'EC-MOD',
    check: (_, { modules }) => (modules.edgeConnect ? undefined : notInstalled('every EdgeConnect', 'EdgeConnect')),
  },
  {
    id: 'EC-SCHEME',
    check: ({ spec: { apiServer } }) => {
      const url = parseUrl(apiServer)
      if (url === undefined)
        return `spec.apiServer is ${JSON.stringify(apiServer)}, an invalid value; write a host name`
      return url.scheme === ''
        ? undefined
        : `spec.apiServer is "${apiServer}", but no protocol may be given; write the host name only`
    },
  },
  {
    id: 'EC-SUFFIX',
    check: ({ spec: { apiServer } }) => {
      // The end of a path would do otherwise, and another host would get the access token. Protocols have a rule already.
      const isHost = isBareHost(apiServer.replace(/^https?:\/\//, ''))
      const suffix = isHost ? SUFFIXES.find((each) => apiServer.endsWith(each)) : undefined
      const labels = suffix === undefined ? '' : apiServer.slice(0, -suffix.length)
      const isFit = labels.split('.').some((label) => label !== '')
      return isFit
        ? undefined
        : `spec.apiServer: ${JSON.stringify(apiServer)} is not the host of a tenant; write it like ${SUFFIXES.map((each) => `abc12345${each}`).join(' or ')}`
    },
  },
  {
    id: 'EC-NAME',
    check: ({ metadata: { name = '' } }) =>
      name.length <= MAX_NAME_LENGTH
        ? undefined
        : `metadata.name has ${name.length} characters and may have ${MAX_NAME_LENGTH}, as names of pods are derived from it; choose a shorter one`,
  },
  {
    id: 'EC-HOSTPATTERNS',
    check: (edgeConnect) =>
      isProvisioner(edgeConnect) &&
      !hasKubernetesAutomation(edgeConnect) &&
      (edgeConnect.spec.hostPatterns ?? []).length === 0
        ? 'spec.hostPatterns is required with spec.oauth.provisioner; name the hosts that requests may go to'
        : undefined,
  },
  {
    id: 'EC-SA',
    check: (edgeConnect) =>
      serviceAccountName(edgeConnect) === ''
        ? 'spec.serviceAccountName is "", which is invalid; name a service account or leave the field out'
        : undefined,
  },
  {
    id: 'EC-AUTOMATION',
    check: (edgeConnect) =>
      hasKubernetesAutomation(edgeConnect) && !isProvisioner(edgeConnect)
        ? 'spec.kubernetesAutomation.enabled needs spec.oauth.provisioner; enable it too'
        : undefined,
  },
]
