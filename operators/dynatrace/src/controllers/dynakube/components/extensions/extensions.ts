/** What extensions share: their tokens, the Service of their controller and its certificate. */
import { Secrets, Services } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { hasExtensions } from '../../../../api/dynakube/feature-facts.ts'
import { EXTENSION_CONTROLLER_PORT, extensionControllerTlsSecretName, namesOf } from '../../../../api/dynakube/names.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import type { KeyPair } from '../../../generated/self-signed.ts'
import { makeToken } from '../../../generated/token.ts'
import { ReferenceNotFoundError } from '../../../references/reference-error.ts'
import { encodeSecret, type SecretData } from '../../../rendering/secret-data.ts'
import { created, objectConditions } from '../../conditions/object-conditions.ts'
import {
  type DynaKubeComponent,
  type DynaKubeContext,
  type DynaKubeInput,
  type RenderInput,
  renderInputOf,
  runsNoPods,
  viewOf,
} from '../../dynakube-component.ts'
import { certificateFor, keyPairOf } from '../../generated-certificate.ts'
import { tenant } from '../tenant/tenant.ts'
import { controllerLabels, controllerPartLabels, EXTENSION_TOKEN_KEYS } from './names.ts'

const TLS_CONDITION = 'ExtensionsTLSSecret'

const automaticTlsSecretName = (dynakube: DynaKube): string => `${namesOf(dynakube).extensionController}-tls`

const hasOwnCertificate = ({ spec }: DynaKube): boolean =>
  Boolean(spec.templates?.extensionExecutionController?.tlsRefName)

/** The Secret with a certificate that the operator makes, if it makes one. */
export const automaticExtensionsCertificate = (dynakube: DynaKube): string | undefined =>
  hasExtensions(dynakube) && !hasOwnCertificate(dynakube) ? automaticTlsSecretName(dynakube) : undefined

/** What the controller and its clients need. */
export interface ExtensionFacts {
  readonly extensionTokens: { readonly controller: string; readonly datasource: string }
  /** The certificate that the operator made; absent when the user has one. */
  readonly extensionsKeyPair?: KeyPair
  /** The Secret of the user with a certificate, when it exists. */
  readonly extensionsTlsData?: SecretData
}

/** Everything that the controller and its clients need. */
export const extensions: DynaKubeComponent<ExtensionFacts> = {
  name: 'extensions',
  needs: [tenant],
  isEnabled: hasExtensions,
  isReady: runsNoPods,
  mayOwn(dynakube) {
    const names = namesOf(dynakube)
    return [
      { resource: Secrets, name: names.extensionsTokenSecret },
      { resource: Services, name: names.extensionController },
      { resource: Secrets, name: automaticTlsSecretName(dynakube) },
    ]
  },
  resolve: resolveExtensions,
  render(engineInput) {
    const input = renderInputOf(engineInput)
    const { facts } = engineInput
    return [renderTokens(input, facts), renderService(input), ...renderCertificate(input, facts)]
  },
  ...objectConditions([
    created('ExtensionsSecret', 'Secret', (dynakube) => namesOf(dynakube).extensionsTokenSecret),
    created('ExtensionsService', 'Service', (dynakube) => namesOf(dynakube).extensionController),
    created(TLS_CONDITION, 'Secret', automaticTlsSecretName),
  ]),
}

/** Tokens and certificate are made once. */
async function resolveExtensions(context: DynaKubeContext): Promise<ExtensionFacts> {
  const { primary: dynakube, dependencies } = context
  const { randomBytes } = dependencies
  const view = viewOf(context)
  const stored = view.secret(namesOf(dynakube).extensionsTokenSecret) ?? {}
  const controller = stored[EXTENSION_TOKEN_KEYS.controller]
  const datasource = stored[EXTENSION_TOKEN_KEYS.datasource]
  const extensionTokens =
    controller && datasource
      ? { controller, datasource }
      : { controller: makeToken('EEC dt0x01', randomBytes), datasource: makeToken('dt0x01', randomBytes) }
  const given = view.secret(extensionControllerTlsSecretName(dynakube))
  if (hasOwnCertificate(dynakube)) return { extensionTokens, ...(given && { extensionsTlsData: given }) }
  const host = namesOf(dynakube).extensionController
  const extensionsKeyPair = keyPairOf(given) ?? (await certificateFor(context, TLS_CONDITION, host, []))
  return { extensionTokens, extensionsKeyPair }
}

function renderTokens({ dynakube }: RenderInput, { extensionTokens }: ExtensionFacts): DesiredObject {
  return desired(Secrets, {
    metadata: { namespace: dynakube.metadata.namespace, name: namesOf(dynakube).extensionsTokenSecret },
    data: encodeSecret({
      [EXTENSION_TOKEN_KEYS.controller]: extensionTokens.controller,
      [EXTENSION_TOKEN_KEYS.datasource]: extensionTokens.datasource,
    }),
  })
}

function renderService(input: RenderInput): DesiredObject {
  const { dynakube } = input
  const { name, port } = EXTENSION_CONTROLLER_PORT
  return desired(
    Services,
    {
      metadata: {
        namespace: dynakube.metadata.namespace,
        name: namesOf(dynakube).extensionController,
        labels: controllerPartLabels(input).all,
      },
      spec: {
        type: 'ClusterIP',
        selector: controllerLabels(dynakube).match,
        ports: [{ name, port, targetPort: 'collector-com', protocol: 'TCP' }],
      },
    },
    { sole: ['spec.ports', 'spec.selector'] },
  )
}

/** The certificate that the operator made, unless the user has one. */
function renderCertificate(input: RenderInput, facts: ExtensionFacts): readonly DesiredObject[] {
  const { dynakube } = input
  if (hasOwnCertificate(dynakube)) return []
  return [
    desired(Secrets, {
      metadata: {
        namespace: dynakube.metadata.namespace,
        name: automaticTlsSecretName(dynakube),
        labels: controllerPartLabels(input).all,
      },
      type: 'kubernetes.io/tls',
      data: encodeSecret(tlsData(dynakube, facts)),
    }),
  ]
}

/**
 * The data of the Secret with the certificate of the controller, for components that run after extensions: the
 * operator's or the user's.
 *
 * *Errors*: {@link ReferenceNotFoundError} naming the Secret of the user.
 */
export function extensionsTlsData({ primary, factsOf }: Pick<DynaKubeInput, 'primary' | 'factsOf'>): SecretData {
  return tlsData(primary, factsOf(extensions))
}

function tlsData(dynakube: DynaKube, facts: Partial<ExtensionFacts> = {}): SecretData {
  const { extensionsTlsData: given, extensionsKeyPair: pair } = facts
  if (given !== undefined && hasOwnCertificate(dynakube)) return given
  if (pair !== undefined && !hasOwnCertificate(dynakube)) {
    return { 'tls.crt': pair.certificate, 'tls.key': pair.privateKey }
  }
  const name = `${dynakube.metadata.namespace}/${extensionControllerTlsSecretName(dynakube)}`
  throw new ReferenceNotFoundError(
    `spec.templates.extensionExecutionController.tlsRefName: the Secret ${name} does not exist; create it`,
  )
}
