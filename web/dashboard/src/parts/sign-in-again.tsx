/** Field to sign in again in the middle of a form, so that nothing typed is lost. */
import { useState } from 'preact/hooks';
import { Service } from '../api/service.js';
import { problemFrom } from '../loading.js';
import { useVisit } from '../signed-in.js';
import { TextField } from './fields.js';

export function SignInAgain({ done }: { readonly done: () => void }) {
  const { signIn } = useVisit();
  const [token, setToken] = useState('');
  const [fault, setFault] = useState<string | undefined>(undefined);
  const submit = async () => {
    const given = token.trim();
    try {
      signIn(given, await new Service(given).whoAmI());
      done();
    } catch (thrown) {
      setFault(problemFrom(thrown).message);
    }
  };
  return (
    <section class="card" aria-label="Sign in again">
      <p class="banner banner-danger" role="alert">
        Your token is not valid any more. Nothing was saved. Sign in with another token; what you
        typed stays here.
      </p>
      {/* No form: it stands inside one, whose button is another. */}
      <div class="inline-form">
        <TextField
          label="API token"
          type="password"
          value={token}
          fault={fault}
          change={(typed) => {
            setToken(typed);
            setFault(undefined);
          }}
        />
        <button type="button" class="button" onClick={submit}>
          Sign in again
        </button>
      </div>
    </section>
  );
}
