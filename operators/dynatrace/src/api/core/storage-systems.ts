/** Volumes of storage systems that pods name directly; most have been replaced by CSI drivers. */
import { Type } from 'typebox'
import {
  atomicTextList,
  flag,
  group,
  int32,
  requiredAtomicList,
  requiredInt32,
  requiredText,
  text,
  textMap,
} from '../fields/fields.ts'
import { requiredSecretRef, secretRef } from './volume-references.ts'

const fsType = (more: object = {}) => text('The file system, such as ext4.', more)
const readOnly = (more: object = {}) => flag('Whether it is mounted for reading only.', more)
const partition = () => int32('The partition to mount; the whole device when left out.')
const monitors = () => requiredAtomicList(Type.String(), 'The addresses of the Ceph monitors.')
const credentials = () => secretRef('A Secret with the credentials.')

/** By the name of the field in a volume. */
export const storageSystems = {
  awsElasticBlockStore: group(
    { volumeID: requiredText('The disk.'), fsType: fsType(), partition: partition(), readOnly: readOnly() },
    'A disk of AWS.',
  ),
  azureDisk: group(
    {
      diskName: requiredText('The disk.'),
      diskURI: requiredText('Its address in the blob storage.'),
      cachingMode: text('None, ReadOnly or ReadWrite.'),
      fsType: fsType({ default: 'ext4' }),
      kind: text('Shared, Dedicated or Managed.'),
      readOnly: readOnly({ default: false }),
    },
    'A disk of Azure.',
  ),
  azureFile: group(
    {
      shareName: requiredText('The share.'),
      secretName: requiredText('A Secret with the name and key of the storage account.'),
      readOnly: readOnly(),
    },
    'A file share of Azure.',
  ),
  cephfs: group(
    {
      monitors: monitors(),
      path: text('The directory to mount; the root when left out.'),
      user: text('The user; admin when left out.'),
      secretFile: text('A file on the node with the key.'),
      secretRef: credentials(),
      readOnly: readOnly(),
    },
    'A Ceph file system.',
  ),
  cinder: group(
    { volumeID: requiredText('The volume.'), fsType: fsType(), secretRef: credentials(), readOnly: readOnly() },
    'A volume of OpenStack.',
  ),
  fc: group(
    {
      targetWWNs: atomicTextList('World wide names of the targets.'),
      lun: int32('The logical unit.'),
      wwids: atomicTextList('World wide identifiers, instead of targetWWNs and lun.'),
      fsType: fsType(),
      readOnly: readOnly(),
    },
    'A Fibre Channel device.',
  ),
  flexVolume: group(
    {
      driver: requiredText('The driver.'),
      options: textMap('Parameters of the driver.'),
      fsType: fsType(),
      secretRef: credentials(),
      readOnly: readOnly(),
    },
    'A volume of a driver that is a program on the node.',
  ),
  flocker: group(
    { datasetName: text('The data set by name.'), datasetUUID: text('The data set by its identifier.') },
    'A data set of Flocker.',
  ),
  gcePersistentDisk: group(
    { pdName: requiredText('The disk.'), fsType: fsType(), partition: partition(), readOnly: readOnly() },
    'A disk of Google Cloud.',
  ),
  glusterfs: group(
    {
      endpoints: requiredText('The Endpoints object that lists the servers.'),
      path: requiredText('The volume.'),
      readOnly: readOnly(),
    },
    'A Gluster volume.',
  ),
  iscsi: group(
    {
      targetPortal: requiredText('Address of the target, with its port if that is not 3260.'),
      iqn: requiredText('The qualified name of the target.'),
      lun: requiredInt32('The logical unit.'),
      portals: atomicTextList('More addresses of the target.'),
      iscsiInterface: text('The interface of the initiator.', { default: 'default' }),
      initiatorName: text('The name of the initiator.'),
      chapAuthDiscovery: flag('Whether discovery is authenticated by CHAP.'),
      chapAuthSession: flag('Whether sessions are authenticated by CHAP.'),
      secretRef: credentials(),
      fsType: fsType(),
      readOnly: readOnly(),
    },
    'An iSCSI disk.',
  ),
  photonPersistentDisk: group({ pdID: requiredText('The disk.'), fsType: fsType() }, 'A disk of Photon.'),
  portworxVolume: group(
    { volumeID: requiredText('The volume.'), fsType: fsType(), readOnly: readOnly() },
    'A volume of Portworx.',
  ),
  quobyte: group(
    {
      registry: requiredText('The registry, as host:port, several separated by commas.'),
      volume: requiredText('The volume.'),
      tenant: text('The tenant that owns it.'),
      user: text('The user to map to.'),
      group: text('The group to map to.'),
      readOnly: readOnly(),
    },
    'A volume of Quobyte.',
  ),
  rbd: group(
    {
      monitors: monitors(),
      image: requiredText('The image.'),
      pool: text('The pool.', { default: 'rbd' }),
      user: text('The user.', { default: 'admin' }),
      keyring: text('A file on the node with the key.', { default: '/etc/ceph/keyring' }),
      secretRef: credentials(),
      fsType: fsType(),
      readOnly: readOnly(),
    },
    'A Ceph block device.',
  ),
  scaleIO: group(
    {
      gateway: requiredText('Address of the gateway.'),
      system: requiredText('The storage system.'),
      secretRef: requiredSecretRef('A Secret with the credentials.'),
      protectionDomain: text('The protection domain.'),
      storagePool: text('The storage pool.'),
      storageMode: text('ThickProvisioned or ThinProvisioned.', { default: 'ThinProvisioned' }),
      volumeName: text('The volume.'),
      sslEnabled: flag('Whether the gateway is called over TLS.'),
      fsType: fsType({ default: 'xfs' }),
      readOnly: readOnly(),
    },
    'A volume of ScaleIO.',
  ),
  storageos: group(
    {
      volumeName: text('The volume.'),
      volumeNamespace: text('Its namespace; that of the pod when left out.'),
      fsType: fsType(),
      secretRef: credentials(),
      readOnly: readOnly(),
    },
    'A volume of StorageOS.',
  ),
  vsphereVolume: group(
    {
      volumePath: requiredText('The disk.'),
      fsType: fsType(),
      storagePolicyID: text('The storage policy by its identifier.'),
      storagePolicyName: text('The storage policy by name.'),
    },
    'A disk of vSphere.',
  ),
}
