/** Who writes the fields of what the operator makes, and reports events. */
export const FIELD_MANAGER = 'dynatrace-operator'
