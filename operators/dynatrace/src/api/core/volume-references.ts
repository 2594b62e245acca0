/** Parts that several kinds of volumes share. */
import { Type } from 'typebox'
import { atomicGroup, atomicList, int32, requiredAtomicGroup, requiredText, text } from '../fields/fields.ts'
import { fieldRef, resourceFieldRef } from './environment-variables.ts'

/** Default permission bits. */
export const defaultMode = () => int32('Permission bits of the files, such as 420 for 0644.')

const reference = { name: text('Its name.', { default: '' }) }

/** A Secret in the same namespace. */
export const secretRef = (description: string) => atomicGroup(reference, description)

/** The same where it must be given. */
export const requiredSecretRef = (description: string) => requiredAtomicGroup(reference, description)

/** Which keys become which files. */
export const keysToPaths = () =>
  atomicList(
    Type.Object({
      key: requiredText('The key.'),
      path: requiredText('The file, from the root of the volume.'),
      mode: int32('Permission bits of this file.'),
    }),
    'Which keys become which files; every key under its own name when left out.',
  )

/** Facts about the pod as files. */
export const downwardFiles = () =>
  atomicList(
    Type.Object({
      path: requiredText('The file, from the root of the volume.'),
      fieldRef: fieldRef(),
      resourceFieldRef: resourceFieldRef(),
      mode: int32('Permission bits of this file.'),
    }),
    'Which facts about the pod become which files.',
  )
