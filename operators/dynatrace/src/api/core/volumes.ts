/** Volumes of a pod and where they are mounted. */
import { quantity } from '@reeve/crd'
import { Type } from 'typebox'
import {
  atomicGroup,
  atomicList,
  flag,
  group,
  int32,
  int64,
  list,
  presence,
  requiredText,
  text,
  textMap,
} from '../fields/fields.ts'
import { labelSelector } from './label-selector.ts'
import { requiredPersistentVolumeClaim } from './persistent-volume-claim.ts'
import { storageSystems } from './storage-systems.ts'
import { defaultMode, downwardFiles, keysToPaths, secretRef } from './volume-references.ts'

const optional = () => flag('Whether the pod starts without it.')
const readOnly = () => flag('Whether it is mounted for reading only.')

const projectedKeys = (kind: 'ConfigMap' | 'Secret') =>
  atomicGroup(
    { name: text(`The ${kind}.`, { default: '' }), items: keysToPaths(), optional: optional() },
    `Keys of a ${kind}.`,
  )

const projected = group(
  {
    defaultMode: defaultMode(),
    sources: atomicList(
      Type.Object({
        configMap: projectedKeys('ConfigMap'),
        secret: projectedKeys('Secret'),
        downwardAPI: group({ items: downwardFiles() }, 'Facts about the pod.'),
        serviceAccountToken: group(
          {
            path: requiredText('The file.'),
            audience: text("The audience of the token; the cluster's own API when left out."),
            expirationSeconds: int64('How long the token is good for; it is renewed before it ends.'),
          },
          'A token of the service account of the pod.',
        ),
        clusterTrustBundle: group(
          {
            path: requiredText('The file.'),
            name: text('One bundle by name.'),
            signerName: text('All bundles of a signer, instead of one by name.'),
            labelSelector: labelSelector('Which bundles of the signer.'),
            optional: optional(),
          },
          'Certificates that the cluster trusts.',
        ),
        podCertificate: group(
          {
            signerName: requiredText('Who signs.'),
            keyType: requiredText('Such as ED25519 or RSA3072.'),
            certificateChainPath: text('The file with the certificates.'),
            keyPath: text('The file with the key.'),
            credentialBundlePath: text('One file with the key and the certificates, instead of two.'),
            maxExpirationSeconds: int32('How long the certificate may be good for.'),
          },
          'A key and a certificate of the pod.',
        ),
      }),
      'What is put together.',
    ),
  },
  'Several sources in one directory.',
)

const volume = Type.Object({
  name: requiredText('By this name volumeMounts refer to it.'),
  configMap: atomicGroup(
    {
      name: text('The ConfigMap.', { default: '' }),
      items: keysToPaths(),
      defaultMode: defaultMode(),
      optional: optional(),
    },
    'The keys of a ConfigMap as files.',
  ),
  secret: group(
    { secretName: text('The Secret.'), items: keysToPaths(), defaultMode: defaultMode(), optional: optional() },
    'The keys of a Secret as files.',
  ),
  emptyDir: group(
    {
      medium: text('Memory keeps it in memory; the disk of the node when left out.'),
      sizeLimit: Type.Optional(quantity({ description: 'How much it may hold.' })),
    },
    'An empty directory that lives as long as the pod.',
  ),
  hostPath: group(
    {
      path: requiredText('The path on the node.'),
      type: text('What must be there, such as Directory or DirectoryOrCreate; not checked when left out.'),
    },
    'A file or directory of the node. OpenShift rejects it unless a security context constraint allows it.',
  ),
  persistentVolumeClaim: group(
    { claimName: requiredText('The claim, in the same namespace.'), readOnly: readOnly() },
    'The volume of a PersistentVolumeClaim.',
  ),
  ephemeral: group(
    {
      volumeClaimTemplate: group(
        {
          metadata: presence('Labels and annotations are not kept here.'),
          spec: requiredPersistentVolumeClaim('The spec of the claim.'),
        },
        'The claim that is made.',
      ),
    },
    'Storage from a claim that is made with the pod and goes with it.',
  ),
  csi: group(
    {
      driver: requiredText('The driver.'),
      volumeAttributes: textMap('Parameters of the driver.'),
      nodePublishSecretRef: secretRef('A Secret that the driver gets.'),
      fsType: text('The file system.'),
      readOnly: readOnly(),
    },
    'Storage of a CSI driver that lives as long as the pod.',
  ),
  downwardAPI: group({ items: downwardFiles(), defaultMode: defaultMode() }, 'Facts about the pod as files.'),
  projected,
  image: group(
    { reference: text('The image.'), pullPolicy: text('Always, Never or IfNotPresent.') },
    'The files of an image.',
  ),
  nfs: group(
    { server: requiredText('The server.'), path: requiredText('The exported path.'), readOnly: readOnly() },
    'A directory of an NFS server.',
  ),
  gitRepo: group(
    {
      repository: requiredText('The address of the repository.'),
      revision: text('The commit.'),
      directory: text('The directory to clone into.'),
    },
    'A clone of a Git repository; no longer supported by recent clusters.',
  ),
  ...storageSystems,
})

/** Volumes of a pod. */
export const volumes = (description: string) => list(volume, description)

/** Where volumes appear in a container. */
export const volumeMounts = (description: string) =>
  list(
    Type.Object({
      name: requiredText('The volume.'),
      mountPath: requiredText('Where it appears; an absolute path.'),
      readOnly: readOnly(),
      recursiveReadOnly: text('Whether what is mounted below is read-only too: Disabled, IfPossible or Enabled.'),
      subPath: text('Only this path of the volume.'),
      subPathExpr: text('The same with environment variables as $(NAME).'),
      mountPropagation: text('Whether later mounts pass between node and container: None, HostToContainer, …'),
    }),
    description,
  )
