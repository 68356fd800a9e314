/** Form to sign in with an API token. */
import { useState } from 'preact/hooks';
import { Service, type ServiceProblem } from '../api/service.js';
import { problemFrom } from '../loading.js';
import { TextField } from '../parts/fields.js';
import { Refused } from '../parts/loading-note.js';
import { Title } from '../parts/title.js';
import { useVisit } from '../signed-in.js';

export function SignInPage() {
  const { signIn } = useVisit();
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<ServiceProblem | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    setProblem(null);
    try {
      signIn(token.trim(), await new Service(token.trim()).whoAmI());
    } catch (thrown) {
      setProblem(problemFrom(thrown));
    }
  };
  return (
    <div class="sign-in">
      <Title
        text="Sign in"
        lead="What is popular among your users, without learning what any one of them did."
      />
      <form class="card form" onSubmit={submit}>
        <TextField
          label="API token"
          hint="Printed at the service’s first start, or made with: blender-dp token create NAME --role operator. It is kept in this tab only."
          type="password"
          value={token}
          change={(typed) => {
            setToken(typed);
            setProblem(null);
          }}
          isNeeded
        />
        {problem && <Refused problem={problem} />}
        <button type="submit" class="button button-strong">
          Sign in
        </button>
      </form>
    </div>
  );
}
