/** Name of the file with the changes that were accepted for all cases, in the folder of the recordings. */
export const acceptedFileName = 'accepted.yaml'
