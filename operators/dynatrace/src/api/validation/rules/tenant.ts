/** Rules on the address of the tenant, the proxy and Istio. */
import { parseUrl } from '@reeve/http/url-reference'
import { ProxyNotFoundError, proxyUrl } from '../../dynakube/proxy.ts'
import type { DynaKube } from '../../latest.ts'
import type { Finding, Lookups, Rule } from '../rule.ts'

const EXAMPLE = 'https://ENVIRONMENTID.live.dynatrace.com/api'
const PASSWORD = /^[!"#$()*\-./0-9:;<>?@A-Z[\]^_a-z{|}~]*$/

interface UrlRule extends Rule<DynaKube> {
  readonly check: (dynakube: DynaKube) => string | undefined
}

/** The URL of the tenant is complete and that of the classic API. */
export const apiUrlRules: readonly UrlRule[] = [
  {
    id: 'DK-URL-MISSING',
    check: ({ spec }) =>
      spec.apiUrl === '' || spec.apiUrl === EXAMPLE
        ? `spec.apiUrl is missing or still the example ${EXAMPLE}; set the URL of your tenant`
        : undefined,
  },
  {
    id: 'DK-URL-INVALID',
    check: ({ spec }) => {
      const hostname = parseUrl(spec.apiUrl)?.hostname ?? ''
      const hasHost = hostname.split('.').some((label) => label !== '')
      return spec.apiUrl.endsWith('/api') && hasHost
        ? undefined
        : `spec.apiUrl: "${spec.apiUrl}" is not a valid tenant URL: it needs a host and must end in /api`
    },
  },
  {
    id: 'DK-URL-3RDGEN',
    check: ({ spec }) =>
      spec.apiUrl.includes('.apps.')
        ? `spec.apiUrl is "${spec.apiUrl}", the address of the platform; drop the "apps" part, as in https://abc12345.live.dynatrace.com/api`
        : undefined,
  },
]

/** What is wrong with the URL of the tenant, by itself. */
export function apiUrlProblem(dynakube: DynaKube): string | undefined {
  return apiUrlRules.map(({ check }) => check(dynakube)).find((problem) => problem !== undefined)
}

/** The proxy has a URL and a password that ActiveGates can use. */
export const proxyRule: Rule<DynaKube> = { id: 'DK-PROXY', check: checkProxy }

async function checkProxy(dynakube: DynaKube, lookups: Lookups): Promise<Finding> {
  let url: string
  try {
    url = (await proxyUrl(dynakube, lookups.readSecret)) ?? ''
  } catch (error) {
    if (!(error instanceof ProxyNotFoundError)) throw error
    const { message, cause } = error
    return cause instanceof Error ? `${message}: ${cause.message}` : message
  }
  const { value } = dynakube.spec.proxy ?? {}
  const field = value ? 'spec.proxy.value' : 'the URL in the Secret of spec.proxy.valueFrom'
  // The URL itself may hold a password and is not repeated.
  const parsed = parseUrl(url)
  if (parsed === undefined) {
    return `${field} is an invalid proxy URL; write it like http://user:password@host:port and percent-encode special characters of the password`
  }
  return isPasswordFit(parsed.userInfo)
    ? undefined
    : `the password in ${field} contains characters that the ActiveGate cannot take, such as ' \` , & = + % \\ blanks or non-ASCII ones; choose another password`
}

function isPasswordFit(userInfo = ''): boolean {
  const colon = userInfo.indexOf(':')
  if (colon < 0) return true
  try {
    return PASSWORD.test(decodeURIComponent(userInfo.slice(colon + 1)))
  } catch {
    // Escapes that are not valid UTF-8 stand for characters that are not allowed anyway.
    return false
  }
}

/** Istio is installed if it is used. */
export const istioRule: Rule<DynaKube> = {
  id: 'DK-ISTIO',
  check: async ({ spec }, { hasIstio }) => {
    if (!spec.enableIstio) return undefined
    try {
      if (await hasIstio()) return undefined
      return 'spec.enableIstio is true, but the resources of Istio (networking.istio.io/v1beta1) are not available; install Istio or switch it off'
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      return `spec.enableIstio is true, but it cannot be found out whether Istio is installed: ${why}; try again`
    }
  },
}

/** The update rule. */
export function apiUrlChange(before: DynaKube, after: DynaKube): Finding {
  const [from, to] = [before.spec.apiUrl, after.spec.apiUrl]
  return from === to
    ? undefined
    : `spec.apiUrl is immutable and cannot change from "${from}" to "${to}"; delete the DynaKube and create it again`
}
