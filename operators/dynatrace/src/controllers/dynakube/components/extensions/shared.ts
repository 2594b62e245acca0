/** What extensions share: their tokens, the address of their controller and its certificate. */
import { Secrets, Services } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { hasExtensions } from '../../../../api/dynakube/feature-facts.ts'
import { EXTENSION_CONTROLLER_PORT, extensionControllerTlsSecretName, namesOf } from '../../../../api/dynakube/names.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { ReferenceNotFoundError } from '../../../references/reference-error.ts'
import { encodeSecret, type SecretData } from '../../../rendering/secret-data.ts'
import { type Component, known } from '../../component.ts'
import { CONDITIONS } from '../../condition-types.ts'
import { created } from '../../object-conditions.ts'
import type { RenderInput } from '../../render-input.ts'
import { EXTENSION_TOKEN_KEYS, resolveExtensions } from '../../resolve/generated.ts'
import { controllerLabels, controllerPartLabels } from './names.ts'

const automaticTlsSecretName = (dynakube: DynaKube): string => `${namesOf(dynakube).extensionController}-tls`

const hasOwnCertificate = ({ spec }: DynaKube): boolean =>
  Boolean(spec.templates?.extensionExecutionController?.tlsRefName)

/** Everything that the controller and those who talk to it need. */
export const extensions: Component = {
  name: 'extensions',
  isEnabled: hasExtensions,
  resolve: resolveExtensions,
  conditions: (dynakube) => [
    created('ExtensionsSecret', 'Secret', namesOf(dynakube).extensionsTokenSecret),
    created('ExtensionsService', 'Service', namesOf(dynakube).extensionController),
    created(CONDITIONS.extensionsTls, 'Secret', automaticTlsSecretName(dynakube)),
  ],
  mayOwn(dynakube) {
    const names = namesOf(dynakube)
    return [
      { resource: Secrets, name: names.extensionsTokenSecret },
      { resource: Services, name: names.extensionController },
      { resource: Secrets, name: automaticTlsSecretName(dynakube) },
    ]
  },
  render(input) {
    if (!hasExtensions(input.dynakube)) return []
    return [renderTokens(input), renderService(input), ...renderCertificate(input)]
  },
}

function renderTokens({ dynakube, material }: RenderInput): DesiredObject {
  const { controller, datasource } = known(material.extensionTokens, 'extensions', 'their tokens')
  return desired(Secrets, {
    metadata: { namespace: dynakube.metadata.namespace, name: namesOf(dynakube).extensionsTokenSecret },
    data: encodeSecret({
      [EXTENSION_TOKEN_KEYS.controller]: controller,
      [EXTENSION_TOKEN_KEYS.datasource]: datasource,
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
function renderCertificate(input: RenderInput): readonly DesiredObject[] {
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
      data: encodeSecret(extensionsTlsData(input)),
    }),
  ]
}

/**
 * The data of the Secret with the certificate of the controller: the operator's or the user's.
 *
 * *Errors*: {@link ReferenceNotFoundError} naming the Secret of the user, `NotYetKnownError` without the operator's.
 */
export function extensionsTlsData({ dynakube, material }: RenderInput): SecretData {
  if (hasOwnCertificate(dynakube)) {
    if (material.extensionsTlsData !== undefined) return material.extensionsTlsData
    const name = `${dynakube.metadata.namespace}/${extensionControllerTlsSecretName(dynakube)}`
    throw new ReferenceNotFoundError(
      `spec.templates.extensionExecutionController.tlsRefName: the Secret ${name} does not exist; create it`,
    )
  }
  const { certificate, privateKey } = known(material.extensionsKeyPair, 'extensions', 'their certificate')
  return { 'tls.crt': certificate, 'tls.key': privateKey }
}
